import { basename } from 'node:path'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { readKeyFile, savedFiles, type KeyFile } from '../context/key-file.ts'

const mostShown = 5

/** Whose key it is: `Ada Lovelace (user 7) in Acme Corp`. Contains text from the service. */
const ownerOf = ({ name, organization, user_id, org_id }: KeyFile): string =>
  `${name === undefined ? `user ${user_id}` : `${name} (user ${user_id})`} in ${organization ?? `organization ${org_id}`}`

/** The authenticator that --authenticator names, the only saved one, or the one that the person at the terminal chooses. */
export const chooseKeyFile = async (file: string | undefined, context: Context): Promise<KeyFile> => {
  const saved = file === undefined ? savedFiles(context.io) : [file]
  if (saved.length < 2) return readKeyFile(saved[0], context.io)
  const named = saved.map((path) => ({
    path,
    line: `${ownerOf(readKeyFile(path, context.io))}, ${basename(path)}`,
  }))
  const prompt = await context.prompt()
  if (prompt) {
    const line = await prompt.select(
      'Whose software authenticator?',
      named.map((one) => one.line),
    )
    return readKeyFile(named.find((one) => one.line === line)!.path, context.io)
  }
  const commands = await Promise.all(
    named.slice(0, mostShown).map(async ({ path, line }) => {
      const again = await context.command!.again({ plus: ['--authenticator', path] })
      return `${again}   ${safeLine(line.split(', ')[0]!)}`
    }),
  )
  throw usageError(
    `Found ${saved.length} software authenticators: choose one with --authenticator`,
    commands.join('\n      '),
  )
}
