import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { rowsIn } from '../../client/answer-data.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { openReplacement } from '../../core/replace-file.ts'
import { safeJson, safeLine, safeText } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { requireYes } from '../operation/confirm.ts'
import { requireOrg, resolveOrg } from '../context/organization.ts'
import { pickingFlag } from '../terminal/output.ts'
import { writeCell } from '../terminal/render.ts'
import { requirePlainFile } from '../terminal/output-file.ts'
import { checkFormat, featureOf, formatOfName } from './read-file.ts'
import type { FileFormat, Fields, Kind } from './kind.ts'
import { quantity } from './progress.ts'

export type TypedExport = { org?: string; format?: string; yes?: boolean }

/** The start of a file, its rows page by page, and its end. */
type Writer = { head: string; rows(page: Fields[], first: boolean): string; tail: string }

const list = (head: string, each: (row: Fields) => unknown, tail: string): Writer => ({
  head,
  rows: (page, first) =>
    page.map((row, i) => `${first && i === 0 ? '' : ','}\n${safeJson(each(row))}`).join(''),
  tail,
})

const cell = (value: unknown): string => (Array.isArray(value) ? value.join(',') : String(value ?? ''))

const csv = async (columns: readonly string[]): Promise<Writer> => {
  const { stringify } = await import('csv-stringify/sync')
  return {
    head: stringify([[...columns]]),
    rows: (page) => stringify(page.map((row) => columns.map((name) => writeCell(cell(row[name]))))),
    tail: '',
  }
}

const createWriter = async (format: FileFormat, kind: Kind): Promise<Writer> => {
  if (format === 'csv') return csv(kind.columns)
  if (format === 'json') return list('[', (row) => row, '\n]\n')
  if (format === 'geojson') return list('{"type":"FeatureCollection","features":[', featureOf, '\n]}\n')
  return { head: '', rows: (page) => page.map((row) => `${safeJson(row)}\n`).join(''), tail: '' }
}

/** An older export may be the only copy of something, so replacing it requires a confirmation. */
const confirmReplacement = async (
  file: string | undefined,
  typed: TypedExport,
  context: Context,
): Promise<void> => {
  if (file === undefined || file === '-') return
  const path = resolve(context.io.cwd, file)
  requirePlainFile(path, file, 'Choose another file, or none for standard output')
  if (!existsSync(path)) return
  const there = `${safeLine(file)} already exists`
  const declined = 'Nothing was exported'
  await requireYes(`${there}. Replace it?`, { yes: typed.yes, unasked: there, declined }, context)
}

/** The destination: standard output, or a file that appears only when it is complete. */
const openTarget = (file: string | undefined, context: Context) => {
  const { io } = context
  if (file === undefined || file === '-') {
    const safe = io.stdout.isTTY ? safeText : (text: string) => text
    return {
      write: (text: string) => io.stdout.write(safe(text)),
      keep: () => undefined,
      drop: () => undefined,
    }
  }
  try {
    return openReplacement(resolve(io.cwd, file))
  } catch (error) {
    throw usageError(`${safeLine(file)} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const readRow = (record: Fields, kind: Kind): Fields => {
  const fields = kind.rowOf?.(record) ?? record
  const key = fields[kind.keyColumn]
  if (typeof key !== 'string' || key === '')
    throw new SvcError(
      'failed',
      'unexpected_answer',
      `The service returned a ${kind.one} without ${kind.keyColumn}, which could not be imported again`,
      { hint: `svc ${kind.list.cli} -o json shows the answer` },
    )
  return Object.fromEntries(kind.columns.map((name) => [name, fields[name] ?? null]))
}

const chooseFormat = (
  kind: Kind,
  file: string | undefined,
  typed: TypedExport,
  context: Context,
): FileFormat => {
  const { globals } = context
  const format = checkFormat(typed.format, kind)
  const piped = file === undefined || file === '-'
  if (piped && (globals.output !== undefined || pickingFlag(globals) !== undefined))
    throw usageError(
      'The rows are written to standard output; use --format to choose the format',
      `Replace ${pickingFlag(globals) ?? '-o'} with --format json`,
    )
  return format ?? (piped ? undefined : formatOfName(file)) ?? 'csv'
}

/** `svc user export`: writes all rows, page by page, in a form that can be imported. */
export const runExport = async (
  kind: Kind,
  file: string | undefined,
  typed: TypedExport,
  context: Context,
): Promise<void> => {
  const format = chooseFormat(kind, file, typed, context)
  const wanted = await requireOrg(typed.org, context)
  await confirmReplacement(file, typed, context)
  const { id: org_id } = await resolveOrg(wanted, context)
  const client = await context.client()
  const output = await context.output()
  const writer = await createWriter(format, kind)
  const target = openTarget(file, context)
  let count = 0
  let started = false
  try {
    const query = { org_id, ...kind.listed }
    for await (const answer of client.pages(kind.list, query, { signal: context.io.signal })) {
      const page = rowsIn(kind.list, answer).map((record) => readRow(record, kind))
      if (!started) target.write(writer.head)
      started = true
      target.write(writer.rows(page, count === 0))
      count += page.length
    }
    target.write(writer.tail)
    target.keep()
  } catch (error) {
    target.drop()
    throw error
  }
  if (file === undefined || file === '-') return output.note(quantity(count, kind))
  await output.report('Exported', { exported: count, format, file })
}
