import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import type { Io } from '../terminal/io.ts'

type Found = 'runs' | 'no permission' | undefined

const look = (path: string): Found => {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
  try {
    accessSync(path, constants.X_OK)
    return 'runs'
  } catch {
    return 'no permission'
  }
}

/** What Windows adds to a name; nothing elsewhere. */
const endings = ({ env }: Pick<Io, 'env'>): string[] =>
  process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']

/**
 * The file of a command, as a shell finds it. Fails as a shell does: 127 where there is none, 126 where it cannot be
 * executed.
 */
export const findCommand = (name: string, io: Pick<Io, 'env' | 'cwd'>): string => {
  const folders = /[/\\]/.test(name)
    ? [io.cwd]
    : (io.env['PATH'] ?? '').split(delimiter).map((dir) => resolve(io.cwd, dir))
  const files = folders.flatMap((dir) =>
    endings(io).map((ending) => (/[/\\]/.test(name) ? resolve(dir, name) : join(dir, name)) + ending),
  )
  const found = files.map((path) => [path, look(path)] as const)
  const runs = found.find(([, state]) => state === 'runs')
  if (runs) return runs[0]
  const closed = found.find(([, state]) => state === 'no permission')
  if (closed)
    throw new SvcError('notExecutable', 'not_executable', `${closed[0]} cannot be executed`, {
      hint: `Nobody was asked. To fix: chmod +x ${closed[0]}`,
    })
  throw new SvcError('noCommand', 'no_command', `Command "${name}" not found`, {
    hint: 'Nobody was asked. For a file in this folder: ./name',
  })
}
