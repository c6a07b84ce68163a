import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { readForeignConfig, type ForeignConfig } from '../context/foreign-config.ts'
import type { Io } from '../terminal/io.ts'
import type { Host, Level } from './host.ts'

type Place = Pick<Io, 'env' | 'cwd'>

/** The files whose settings apply to a hook of this level. */
const filesFor = (host: Host, level: Level, { env, cwd }: Place): string[] => {
  const isFixed = level === 'managed' && !host.isProjectTrusted
  const levels: Level[] = isFixed ? ['managed'] : ['user', 'project', 'managed']
  const own = isFixed || host.ownSettings === undefined ? [] : [join(cwd, host.ownSettings)]
  return [...levels.map((one) => host.files(env, cwd)[one]).filter((file) => file !== undefined), ...own]
}

/** A damaged file disables nothing. */
const readable = (file: string): ForeignConfig | undefined => {
  try {
    return readForeignConfig(file)
  } catch (error) {
    if (error instanceof SvcError) return undefined
    throw error
  }
}

/** The setting with which the host ignores the hooks of this level, in any of its files, and that file. */
export const disabledBy = (
  host: Host,
  level: Level,
  place: Place,
): { setting: string; file: string } | undefined => {
  for (const file of filesFor(host, level, place)) {
    const config = readable(file)
    const found = host.disabledBy?.find(({ path, value }) => {
      const set = config?.at([...path])
      return value === undefined ? set !== undefined : [set].flat().includes(value)
    })
    if (found) return { setting: found.path.join('.'), file }
  }
  return undefined
}

/** Why commands in skills would run without an approval, although the hook holds those of the shell; undefined if they do not. */
export const skillsFault = (host: Host, level: Level, place: Place): string | undefined => {
  const { title, skillSetting } = host
  if (skillSetting === undefined) return undefined
  const found = filesFor(host, level, place).map((file) => ({
    file,
    value: readable(file)?.at([skillSetting]),
  }))
  const off = found.find(({ value }) => value === false)
  if (!off && found.some(({ value }) => value === true)) return undefined
  const why = off ? `is false in ${off.file}` : 'is not true'
  return `${title} runs the commands in skills without an approval, because "${skillSetting}" ${why}`
}
