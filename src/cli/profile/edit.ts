import { readLines } from '../../contract/approvers.ts'
import { resolve } from 'node:path'
import { factors } from '../../contract/records.ts'
import { usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { Io } from '../terminal/io.ts'
import { checkBaseUrl, checkMcpUrl } from '../../client/address.ts'
import { profileName, type Profile } from '../context/profile-store.ts'

type Check = (text: string, field: string, io: Io) => Profile[keyof Profile]

/** The words of a command that runs without a shell: a JSON list, or plain words without quotes. */
const wordsOf = (text: string, field: string): string[] => {
  const wrong = usageError(
    `${field} must be plain words, or a JSON list if a word contains a space or a quote`,
    `'["sh","-c","pass svc/prod | head -1"]'`,
  )
  if (!text.startsWith('[')) {
    if (/["'`\\|&;<>$()*?]/.test(text)) throw wrong
    return text.split(/\s+/).filter((word) => word !== '')
  }
  const words = parseJson(text)
  if (!Array.isArray(words) || words.length === 0 || words.some((word) => typeof word !== 'string'))
    throw wrong
  return words as string[]
}

/** Makes the path of a program absolute, so that it works from every folder. */
const checkCommand: Check = (text, field, io) => {
  const [program = '', ...args] = wordsOf(text, field)
  return [/[/\\]/.test(program) ? resolve(io.cwd, program) : program, ...args]
}

const checkApprovers: Check = (value, name) => readLines({ value, name }).join(' ')

const checkFactors: Check = (text, field) => {
  const words = text.split(',').map((word) => word.trim())
  const bad = words.find((word) => !(factors as readonly string[]).includes(word))
  if (bad !== undefined) throw usageError(`${field} must be ${factors.join(', ')}, not "${bad}"`)
  return words.join(',')
}

const checkFlag: Check = (text, field) => {
  if (text !== 'true' && text !== 'false') throw usageError(`${field} must be true or false, not "${text}"`)
  return text === 'true'
}

/** Commands separated by commas: `org delete, user`. Saving checks that they exist. */
const checkListed: Check = (text) =>
  text
    .split(',')
    .map((words) => words.trim().replace(/\s+/g, ' ').replace(/^svc /, ''))
    .filter((words) => words !== '')

const plain: Check = (text) => text

/** What `svc profile create` and `set` may write, and how each value is checked. A secret cannot be an argument. */
const editable: Partial<Record<keyof Profile, Check>> = {
  base_url: checkBaseUrl,
  mcp_url: checkMcpUrl,
  org: plain,
  default_mobile: checkApprovers,
  default_factors: checkFactors,
  request_from: plain,
  cacert: (text, _, io) => resolve(io.cwd, text),
  protected: checkFlag,
  credential_command: checkCommand,
  ask_credential_command: checkCommand,
  require_approval: checkListed,
}

export const checkName = (name: string): string => {
  if (!profileName.test(name))
    throw usageError(
      `"${name}" is not a valid profile name: use letters, digits, dots, hyphens and underscores`,
    )
  return name
}

/** `org=acme`, `protected=true`; an empty value removes the field. Throws an error that names the field. */
export const parseChange = (text: string, io: Io): [field: keyof Profile, value: Profile[keyof Profile]] => {
  const at = text.indexOf('=')
  const field = text.slice(0, at).replaceAll('-', '_')
  if (/key|token/.test(field))
    throw usageError(`${field} is a secret and cannot be an argument`, 'svc profile login --with-key')
  if (at < 1 || !Object.hasOwn(editable, field))
    throw usageError(`"${text}" is not valid: use key=value with one of ${Object.keys(editable).join(', ')}`)
  const value = text.slice(at + 1)
  const name = field as keyof Profile
  return [name, value === '' ? undefined : editable[name]!(value, field, io)]
}
