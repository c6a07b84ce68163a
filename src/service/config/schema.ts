import * as z from 'zod/mini'
import { line } from '../../contract/field.ts'
import { email } from '../../contract/records.ts'

const path = line(4096)

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
  password_file: z.optional(path),
  ca_file: z.optional(path),
  plain: z.optional(z.boolean()),
})

const sms = z.strictObject({
  url: z.optional(line(2000)),
  headers: z.optional(headerFields),
  body: z.optional(z.record(z.string(), z.unknown())),
  secret_file: z.optional(path),
})

const quotes = z.strictObject({
  url: z.optional(line(2000)),
  secret_file: z.optional(path),
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
