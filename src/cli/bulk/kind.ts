import type { Client } from '../../client/client.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Issue, SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'

export const fileFormats = ['csv', 'ndjson', 'json', 'geojson'] as const
export type FileFormat = (typeof fileFormats)[number]

export type Fields = Record<string, unknown>

/** A row of a file. `row` is its line in CSV and NDJSON, as in a spreadsheet, and its position in JSON. */
export type RawRow = { row: number; fields: Fields; issues: Issue[] }

/** A checked row: its request body, and the value that identifies it. */
export type Item = { row: number; key: string; input: Fields }

export const conflictModes = ['fail', 'skip', 'update'] as const
export type ConflictMode = (typeof conflictModes)[number]

export type Outcome = { status: 'created' | 'updated' | 'skipped'; id?: unknown }
export type Send = (item: Item, options: { signal: AbortSignal; idempotencyKey: string }) => Promise<Outcome>

export type Destination = {
  client: Client
  org: number
  mode: ConflictMode
  signal: AbortSignal
  /** A run before may have sent rows and lost the responses. */
  resumed: boolean
}

/** What can be imported and exported: the form of its rows, and how to send one. */
export type Kind = {
  /** Its commands are `svc <group> import` and `export`. */
  group: string
  /** The name of its files, and of the import in a result file: `users`. */
  file: string
  /** For sentences: `user`, `users`. */
  one: string
  many: string
  create: Operation
  /** The field of `create` for the organization. */
  orgField: 'orgId' | 'org_id'
  /** The columns of a file, in the order of an export. */
  columns: readonly string[]
  /** Other names of columns. */
  aliases: Readonly<Record<string, readonly string[]>>
  /** Optional columns: their default, or undefined if it follows from another column. */
  defaults: Readonly<Fields>
  /** The column that identifies a row. */
  keyColumn: string
  /** Whether GeoJSON is supported. */
  places?: boolean
  /** Normalizes a row, and checks what its schema cannot express. */
  tidy(fields: Fields): { fields: Fields; key?: string | undefined; issues: Issue[] }
  /** The body of the request, if it differs from the row. */
  bodyOf?(input: Fields): Fields
  /** The row of a record, if it differs from the record. */
  rowOf?(record: Fields): Fields
  /** Prepares to send rows. */
  open(to: Destination): Promise<Send>
  list: Operation
  /** Filters of the list for an export. */
  listed: Readonly<Fields>
}

const otherConflicts = new Set(['idempotency_key_reused', 'quota_exceeded'])

/** The row already exists. Third-party services have other codes for it, or none. */
export const isConflict = ({ code, http_status }: SvcError): boolean =>
  code === 'name_exists' || (http_status === 409 && !otherConflicts.has(code))

/** Whether a record already has these fields. */
export const sameFields = (fields: Fields, record: unknown): boolean =>
  isRecord(record) &&
  Object.entries(fields).every(([name, value]) => JSON.stringify(record[name]) === JSON.stringify(value))
