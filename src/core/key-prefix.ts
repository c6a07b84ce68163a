import { sha256 } from './ids.ts'

/** The part of an API key that is no secret: its first characters or, for a preset key in another form, the start of a hash of it. */
export const keyPrefix = (key: string): string =>
  /^svc_(?:op|srv|org)_[0-9a-f]{8}(?=_)/.exec(key)?.[0] ?? `preset_${sha256(`prefix:${key}`).slice(0, 12)}`
