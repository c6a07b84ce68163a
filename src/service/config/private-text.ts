import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isOpenTo } from '../../core/checked-file.ts'
import { SvcError } from '../../core/errors.ts'
import { isLoopbackHost } from '../../core/loopback.ts'

const mostBytes = 1_048_576

/** An error in the configuration. Never include a value: it can be a secret. */
export const badConfig = (message: string, hint: string, cause?: unknown): SvcError =>
  new SvcError('usage', 'bad_config', message, {
    hint,
    cause,
    ...(cause instanceof Error && { detail: cause.message }),
  })

/**
 * The text of a file that can contain secrets, called `what` in an error. `requirePrivate` throws if other users can read
 * the file.
 */
export const openText = (file: string, what: string): { text: string; requirePrivate(): void } => {
  let fd: number | undefined
  try {
    fd = openSync(file, 'r')
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.size > mostBytes)
      throw badConfig(`${what} ${file} is not a text file`, 'Use a plain file of at most 1 MiB')
    const text = readFileSync(fd, 'utf8')
    return {
      text,
      requirePrivate: () => {
        if (isOpenTo(stats, 0o077))
          throw badConfig(
            `${what} ${file} contains a secret, and other users can read it`,
            `chmod 600 '${file}'`,
          )
      },
    }
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw badConfig(`${what} ${file} cannot be read`, 'Use a file that this user can read', error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** The secret in a private file; `name` is the field that names the file. */
export const readSecret = (file: string | undefined, name: string): string | undefined => {
  if (file === undefined) return undefined
  const { text, requirePrivate } = openText(file, name)
  requirePrivate()
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '') throw badConfig(`${name} ${file} is empty`, 'Write the secret into it')
  return secret
}

/** The address of a provider: secrets and recipients go there, so https, or http on this machine. */
export const parseProviderUrl = (section: string, text: string, example: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw badConfig(`${section}.url is not a valid URL`, example)
  if (url.username || url.password)
    throw badConfig(
      `${section}.url must not contain a name or a password`,
      section === 'sms' ? 'Put them into sms.headers' : 'Set quotes.secret_file',
    )
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw badConfig(`${section}.url must be https, except on this machine`, example)
  return url
}
