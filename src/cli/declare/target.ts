import { usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { readPhone } from '../../rules/phone.ts'
import { sections, type Rows, type Section } from './state.ts'
import type { Wanted } from './document.ts'

/** A whole section, or one row of it. */
export type Target = { section: Section; key?: string; typed: string }

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
