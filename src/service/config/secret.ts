import type { Env } from '../../core/env.ts'
import { badConfig, openText } from './private-text.ts'

/**
 * A secret that a section of the file holds itself (`password`), in a file (`password_file`) or in the environment
 * (`password_env`); `name` is its whole name, `smtp.password`. Undefined when it names none.
 */
export const readSecret = (section: Record<string, unknown>, name: string, env: Env): string | undefined => {
  const field = name.slice(name.indexOf('.') + 1)
  const given = [field, `${field}_file`, `${field}_env`].filter((one) => section[one] !== undefined)
  if (given.length > 1) throw badConfig(`${name} is given twice`, `Keep one of ${given.join(' and ')}`)
  if (section[field] !== undefined) return String(section[field])
  const file = section[`${field}_file`]
  if (file !== undefined) {
    const { text, requirePrivate } = openText(String(file), `${name}_file`)
    requirePrivate()
    const secret = text.replace(/\r?\n$/, '')
    if (secret === '') throw badConfig(`${name}_file ${String(file)} is empty`, 'Write the secret into it')
    return secret
  }
  const variable = section[`${field}_env`]
  if (variable === undefined) return undefined
  const secret = env[String(variable)]
  if (secret) return secret
  throw badConfig(`${name}_env names ${String(variable)}, which is not set`, `export ${String(variable)}=…`)
}
