import * as z from 'zod/mini'
import { line } from '../../contract/field.ts'
import { email } from '../../contract/records.ts'
import { jsonPointer } from './json-pointer.ts'

const path = line(4096)
const secret = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(4096))
const variable = line(100).check(
  z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'),
)

const framingHeaders = /^(?:host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer)$/i
const headerName = z.string().check(
  z.regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header'),
  z.refine((name) => !framingHeaders.test(name), 'is a header that svc sets itself'),
)
const headerFields = z.record(
  headerName,
  line(4000).check(z.regex(/^[\x20-\x7e]*$/, 'must contain only printable ASCII characters')),
)

const smtp = z.strictObject({
  url: z.optional(line(1000)),
  from: z.optional(line(400)),
  password: z.optional(secret),
  password_file: z.optional(path),
  password_env: z.optional(variable),
  ca_file: z.optional(path),
  plain: z.optional(z.boolean()),
})

const sms = z.strictObject({
  url: z.optional(line(2000)),
  method: z.optional(z.enum(['POST', 'PUT'])),
  headers: z.optional(headerFields),
  body: z.optional(z.record(z.string(), z.unknown())),
  id: z.optional(jsonPointer),
  secret: z.optional(secret),
  secret_file: z.optional(path),
  secret_env: z.optional(variable),
})

const quotes = z.strictObject({
  file: z.optional(path),
  url: z.optional(line(2000)),
  secret: z.optional(secret),
  secret_file: z.optional(path),
  secret_env: z.optional(variable),
})

const wholeNumber = (most: number) =>
  z.int('must be a whole number').check(z.gte(1, 'must be 1 or more'), z.lte(most, `must be ${most} or less`))

const retention = z.strictObject({
  approvals_days: z.optional(wholeNumber(36_500)),
  verifications_days: z.optional(wholeNumber(36_500)),
  idempotency_hours: z.optional(wholeNumber(720)),
})

/** The file of `svc serve --config`; docs/svc.sample.yaml explains each field. */
export const configSchema = z.strictObject({
  smtp: z.optional(smtp),
  sms: z.optional(sms),
  support: z.optional(z.strictObject({ email })),
  quotes: z.optional(quotes),
  retention: z.optional(retention),
})

export type Config = z.infer<typeof configSchema>
