import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isOpenTo } from '../../core/checked-file.ts'
import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'

const mostBytes = 1_048_576

/** What stands in the configuration is wrong; never tells a value. */
export const badConfig = (message: string, hint: string, cause?: unknown): SvcError =>
  new SvcError('usage', 'bad_config', message, {
    hint,
    cause,
    ...(cause instanceof Error && { detail: cause.message }),
  })

export type Opened = {
  text: string
  /** Fails, with the command that mends it, where others can read the file. */
  requirePrivate(): void
}

/** The text of a file that can hold secrets, named as `what` in an error. */
export const openText = (file: string, what: string): Opened => {
  let fd: number | undefined
  try {
    fd = openSync(file, 'r')
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.size > mostBytes)
      throw badConfig(`${what} ${file} is no file of text`, 'Name a plain file of at most 1 MiB')
    const text = readFileSync(fd, 'utf8')
    return {
      text,
      requirePrivate: () => {
        if (isOpenTo(stats, 0o077))
          throw badConfig(`${what} ${file} holds a secret, and others can read it`, `chmod 600 '${file}'`)
      },
    }
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw badConfig(`${what} ${file} cannot be read`, 'Name a file that this user can read', error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

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
