import * as z from 'zod/mini'
import { line } from '../../contract/field.ts'
import { email } from '../../contract/records.ts'
import { jsonPointer } from './json-pointer.ts'
import { quotesSection } from './quotes-settings.ts'
import { retentionSection } from './retention.ts'
import { headerFields, path, secret, variable } from './texts.ts'

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

/** The file of `svc serve --config`; what each means stands in docs/svc.sample.yaml. */
export const configSchema = z.strictObject({
  smtp: z.optional(smtp),
  sms: z.optional(sms),
  support: z.optional(z.strictObject({ email })),
  quotes: z.optional(quotesSection),
  retention: z.optional(retentionSection),
})

export type Config = z.infer<typeof configSchema>
