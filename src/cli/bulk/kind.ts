import type { Client } from '../../client/client.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Issue, SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'

export const fileFormats = ['csv', 'ndjson', 'json', 'geojson'] as const
export type FileFormat = (typeof fileFormats)[number]

export type Fields = Record<string, unknown>

/** A row of a file. `row` is its line in CSV and NDJSON, as a spreadsheet numbers it, and its place in JSON. */
export type RawRow = { row: number; fields: Fields; issues?: Issue[] }

/** A row that was checked: the body of its request, and the name by which it is found again. */
export type Item = { row: number; key: string; input: Fields }

export const conflictModes = ['fail', 'skip', 'update'] as const
export type ConflictMode = (typeof conflictModes)[number]

export type Outcome = { status: 'created' | 'updated' | 'skipped'; id?: unknown }
export type CallWith = { signal: AbortSignal; idempotencyKey: string }
export type Send = (item: Item, options: CallWith) => Promise<Outcome>

export type Destination = {
  client: Client
  org: number
  mode: ConflictMode
  signal: AbortSignal
  /** Rows may have been sent before whose answers never came. */
  resumed: boolean
}

/** What can be imported and exported in bulk: how its rows look, and how one is sent. */
export type Kind = {
  /** Its commands are `svc <group> import` and `export`. */
  group: string
  /** `users`: how its files are called, and its results say of what they are. */
  file: string
  /** `user`, `users`: as sentences call it. */
  one: string
  many: string
  create: Operation
  /** The name under which `create` takes the organization. */
  orgField: 'orgId' | 'org_id'
  /** The columns of a file, in the order in which they are exported. */
  columns: readonly string[]
  /** Other words that files have for a column. */
  aliases: Readonly<Record<string, string>>
  /** Columns that a file may lack: they follow from others, or have this value. */
  defaults: Readonly<Fields>
  /** The column by which a row is found again. */
  keyColumn: string
  /** Whether GeoJSON is spoken, too. */
  places?: boolean
  /** Brings a row into the spelling that the service takes, and says what its schema cannot. */
  tidy(fields: Fields): { fields: Fields; key?: string | undefined; issues: Issue[] }
  /** The body of the request that creates a row, where it is another than the row. */
  bodyOf?(input: Fields): Fields
  /** The row of a record, where it is another than the record. */
  rowOf?(record: Fields): Fields
  /** Gets ready to send rows. */
  open(to: Destination): Promise<Send>
  list: Operation
  /** What is asked of the list, besides the organization. */
  listed: Readonly<Fields>
}

const otherConflicts = new Set(['idempotency_key_reused', 'quota_exceeded'])

/** What a row wants to add is there already. Other services have other codes for it, or none. */
export const isConflict = ({ code, http_status }: SvcError): boolean =>
  code === 'name_exists' || (http_status === 409 && !otherConflicts.has(code))

/** Whether a record already says all that these fields say. */
export const sameFields = (fields: Fields, record: unknown): boolean =>
  isRecord(record) &&
  Object.entries(fields).every(([name, value]) => JSON.stringify(record[name]) === JSON.stringify(value))
