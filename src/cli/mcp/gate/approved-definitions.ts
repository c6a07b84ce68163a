import { mkdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sha256 } from '../../../core/ids.ts'
import { isRecord } from '../../../core/is-record.ts'
import { parseJson } from '../../../core/parse-json.ts'
import { replaceFile } from '../../../core/replace-file.ts'
import { configDir, readPrivate } from '../../context/private-file.ts'
import type { Io } from '../../terminal/io.ts'
import type { Definition } from './definitions.ts'

const isDefinition = (value: unknown): value is Definition =>
  isRecord(value) &&
  /^[0-9a-f]{64}$/.test(String(value['sha256'])) &&
  typeof value['description'] === 'string'

/**
 * The definition of each tool at the time of the last approval, kept on this machine beside the profiles. `warn` is called if the
 * file cannot be read or written: a change since then is not noticed.
 */
export const openApprovedDefinitions = (
  io: Pick<Io, 'env' | 'cwd'>,
  { file: rules, server }: { file: string; server: string },
  warn: (text: string) => void,
) => {
  const folder = join(configDir(io), 'gate')
  const file = join(
    folder,
    `${sha256(JSON.stringify([realpathSync(resolve(io.cwd, rules)), server])).slice(0, 32)}.json`,
  )

  const read = (): Map<string, Definition> => {
    try {
      const text = readPrivate(file, 'file')
      const value = text === undefined ? {} : parseJson(text)
      if (isRecord(value))
        return new Map(
          Object.entries(value).filter((entry): entry is [string, Definition] => isDefinition(entry[1])),
        )
      warn(`${file} is not valid; svc does not know which definitions were approved before`)
    } catch (error) {
      warn(`${(error as Error).message}; svc does not know which definitions were approved before`)
    }
    return new Map()
  }

  return {
    // Read each time, because another gate may have written it.
    of: (tool: string) => read().get(tool),
    keep: (tool: string, definition: Definition): void => {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        replaceFile(file, JSON.stringify(Object.fromEntries(read().set(tool, definition))))
      } catch (error) {
        warn(`The definition of ${tool} could not be saved: ${(error as Error).message}`)
      }
    },
  }
}

export type ApprovedDefinitions = ReturnType<typeof openApprovedDefinitions>
