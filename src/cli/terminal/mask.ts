import { dialingPrefix } from '../../core/phone-parts.ts'
import { isRecord } from '../../core/is-record.ts'

const dots = '•'

/** `+12025550101` -> `+1••••••0101`. Too short to hide anything: all dots. What the service has hidden stays as it is. */
export const maskPhone = (text: string): string => {
  if (/^•+\d{4}$/.test(text)) return text
  const prefix = dialingPrefix(text) ?? (/^\d{7,15}$/.test(text) ? '' : undefined)
  if (prefix === undefined) return dots.repeat(4)
  return prefix + dots.repeat(text.length - prefix.length - 4) + text.slice(-4)
}

/** `ada@acme.example` -> `a•••@acme.example`. */
const maskEmail = (text: string): string =>
  text.slice(0, 1) + dots.repeat(3) + text.slice(text.lastIndexOf('@'))

/** Keeps the readable prefix of `svc_org_1a2b3c4d_…` and nothing of any other secret. */
export const maskSecret = (text: string): string =>
  (/^svc_(?:[a-z]{1,16}_)?[0-9a-z]{4,16}_(?=.{16})/i.exec(text)?.[0] ?? '') + dots.repeat(4)

// Keys of svc and of services that people use with it, and bearer tokens (JWT).
const keys = /\b(?:svc_[a-z]{1,16}_[0-9a-z]{4,16}_|sk[_-]|whsec_|gh[a-z]_|xox[a-z]-|eyJ)[\w.-]{12,}/g

/** Text with every API key in it masked. */
export const withoutKeys = (text: string): string => text.replace(keys, maskSecret)

const maskText = (field: string, text: string): string => {
  if (/^\+\d{7,15}$/.test(text) || /mobile|phone/i.test(field)) return maskPhone(text)
  if (/^[^@\s]{1,64}@[^@\s]{1,255}$/.test(text)) return maskEmail(text)
  return maskSecret(text)
}

const maskAll = (field: string, value: unknown): unknown => {
  if (value === null || value === '' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((item) => maskAll(field, item))
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, maskAll(k, v)]))
  return maskText(field, String(value))
}

/** A copy with masked values of these fields, at any depth. */
export const maskFields = (value: unknown, masked: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => maskFields(item, masked))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      masked.has(name.slice(name.lastIndexOf('.') + 1)) ? maskAll(name, inner) : maskFields(inner, masked),
    ]),
  )
}
