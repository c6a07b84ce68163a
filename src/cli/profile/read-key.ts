import { usageError } from '../../core/errors.ts'
import { shellWord } from '../../core/shell-word.ts'
import type { Context } from '../context/context.ts'
import { checkKey, createKeyReader, fileSource, type Noun } from '../context/api-key.ts'

const flags: Record<Noun, string[]> = { 'API key': [], 'ask key': ['--ask'], bearer: ['--bearer'] }
const labels: Record<Noun, string> = { 'API key': 'API key', 'ask key': 'Key that asks,', bearer: 'Bearer' }

/**
 * A key that a person hands over: from --key-file, piped into standard input, or typed without echo. Refuses an
 * address that no key may go to before anything is asked.
 */
export const readNewKey = async (
  { io, globals, prompt }: Context,
  target: { url: string; profile: string; piped?: boolean; noun?: Noun },
): Promise<string> => {
  const file = globals.keyFile ?? (target.piped && !io.stdin.isTTY ? '-' : undefined)
  const where = 'that was given'
  const { noun = 'API key' } = target
  const read = async (): Promise<string> => {
    if (file !== undefined) return fileSource(file, io).read()
    const asked = await prompt()
    if (!asked)
      throw usageError(
        `Cannot ask for the ${noun}: this is not a terminal`,
        `svc profile login ${[target.profile, ...flags[noun]].map(shellWord).join(' ')} --with-key < key.txt`,
      )
    return (await asked.secret(`${labels[noun]} for ${new URL(target.url).origin}`)).trim()
  }
  const key = await createKeyReader({ where, read }, target.profile, noun)(target.url)
  return checkKey(key ?? '', where, noun)
}
