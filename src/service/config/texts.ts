import * as z from 'zod/mini'
import { line } from '../../contract/field.ts'

// Fields that stand in several sections of the file.

export const path = line(4096)
export const secret = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(4096))
export const variable = line(100).check(
  z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'),
)

const framing = /^(?:host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer)$/i
const headerName = z.string().check(
  z.regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header'),
  z.refine((name) => !framing.test(name), 'is a header that svc sets itself'),
)
export const headerFields = z.record(
  headerName,
  line(4000).check(z.regex(/^[\x20-\x7e]*$/, 'must hold printable ASCII characters only')),
)
