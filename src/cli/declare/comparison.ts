import { usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { readPhone } from '../../rules/phone.ts'
import type { Context } from '../context/context.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import type { Io } from '../terminal/io.ts'
import { readDocument, type Wanted } from './document.ts'
import { planFrom, type Plan } from './plan.ts'
import { readState, type Scope } from './read-state.ts'
import { sections, type Rows, type Section, type State } from './state.ts'

/** A whole section, or one row of it. */
export type Target = { section: Section; key?: string | undefined; typed: string }

/** `users`, `users/+12025550101`, `geofences/HQ`. Fails with a usage error that names the nearest section. */
export const readTarget = (typed: string): Target => {
  const slash = typed.indexOf('/')
  const word = slash < 0 ? typed : typed.slice(0, slash)
  const key = slash < 0 ? undefined : typed.slice(slash + 1)
  const section = sections.find((one) => one === word)
  if (!section || key === '') {
    const near = nearest(word, sections)
    throw usageError(
      `--target must be one of ${sections.join(', ')}, alone or with /NAME, not "${typed}"`,
      `--target ${shellQuote(`${near ?? 'users'}${key ? `/${key}` : ''}`)}`,
    )
  }
  if (section !== 'users' || key === undefined) return { section, key, typed }
  const phone = readPhone(key)
  if ('wrong' in phone) throw usageError(`--target ${typed}: ${phone.message}`, '--target users/+12025550101')
  return { section, key: phone.mobile, typed }
}

/** The sections that are meant. Fails when the file has nothing under one. */
export const targetedSections = (wanted: Wanted, targets: readonly Target[]): Section[] => {
  const named = sections.filter((section) => wanted.rows[section])
  if (targets.length === 0) return named
  for (const { section, typed } of targets)
    if (!wanted.rows[section])
      throw usageError(
        `--target ${typed}: the file says nothing about ${section}`,
        `the file has ${named.join(', ')}`,
      )
  return named.filter((section) => targets.some((target) => target.section === section))
}

const meant = (targets: readonly Target[], section: Section, key: string): boolean =>
  targets.length === 0 ||
  targets.some((target) => target.section === section && (target.key === undefined || target.key === key))

/** The rows that are meant. */
export const targetedRows = (rows: Rows, targets: readonly Target[]): Rows =>
  Object.fromEntries(
    sections
      .filter(
        (section) =>
          rows[section] && (targets.length === 0 || targets.some((one) => one.section === section)),
      )
      .map((section) => [section, rows[section]!.filter(({ key }) => meant(targets, section, key))]),
  )

/** Fails where a target is neither in the file nor with the service. */
export const checkTargets = (targets: readonly Target[], ...sides: Rows[]): void => {
  for (const { section, key, typed } of targets) {
    if (key === undefined) continue
    const keys = sides.flatMap((rows) => rows[section]?.map((row) => row.key) ?? [])
    if (keys.includes(key)) continue
    const near = nearest(key, keys)
    throw usageError(
      `--target ${typed}: neither the file nor the service has it`,
      near === undefined ? `--target ${section}` : `--target ${shellQuote(`${section}/${near}`)}`,
    )
  }
}

/** Eight times what an organization of 5,000 users takes. */
const mostMiB = 10

/** The text of a file, or of standard input for `-`. Fails with a usage error when it is too large or no UTF-8. */
const readSource = async (file: string, io: Io): Promise<{ name: string; text: string }> => {
  const name = file === '-' ? 'standard input' : file
  const hint = 'svc export --org acme > org.yaml writes a file like this'
  const split = 'Use svc user import for lists of this size'
  const bytes = await readInput(file, io, { mostMiB, hint, split })
  if (bytes.length > mostMiB * 1024 * 1024) throw usageError(`${name} is larger than ${mostMiB} MiB`, split)
  return { name, text: textOf(bytes, name) }
}

export type Comparing = { file?: string; target?: string[]; prune?: boolean }
export type Comparison = { scope: Scope; state: State; plan: Plan }

/** Compares a file with the service. The file is checked whole before the service is asked anything. */
export const compare = async (options: Comparing, command: string, context: Context): Promise<Comparison> => {
  if (options.file === undefined) throw usageError('Missing <file>', `svc ${command} org.yaml`)
  const targets = (options.target ?? []).map(readTarget)
  const { name, text } = await readSource(options.file, context.io)
  const wanted = readDocument(text, name)
  const sections = targetedSections(wanted, targets)
  const rules = wanted.rows.users?.some(({ fields }) => fields.geofences || fields.timeslots) ?? false
  const scope = { sections, rules: rules && sections.includes('users') }

  const client = await context.client()
  const state = await readState(client, wanted.slug, scope, context.io.signal)
  if (state.org_id === undefined && !sections.includes('organization'))
    throw usageError(
      `Organization "${wanted.slug}" does not exist yet, so --target cannot be used`,
      `${await context.command!.again({ without: ['--target'] })} makes it`,
    )
  const rows = targetedRows(wanted.rows, targets)
  checkTargets(targets, rows, state.rows)
  const present = { ...state, rows: targetedRows(state.rows, targets) }
  const plan = planFrom({ slug: wanted.slug, rows }, present, { prune: options.prune === true })
  return { scope, state, plan }
}
