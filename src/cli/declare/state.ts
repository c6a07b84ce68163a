import { policy } from '../../contract/policy.ts'
import { authenticators } from '../../contract/policy.ts'
import { factors } from '../../contract/records.ts'
import { ruleShape } from '../../contract/rule-shape.ts'
import { fieldSchemas } from '../../contract/schema.ts'
import { normalizeNetwork } from '../../factors/network.ts'
import { isRecord } from '../../core/is-record.ts'
import { weekdays } from '../../core/weekdays.ts'

/** The sections of a file, in the order in which they are applied. */
export const sections = [
  'organization',
  'geofences',
  'timeslots',
  'auth_codes',
  'idp',
  'users',
  'groups',
  'rules',
] as const
export type Section = (typeof sections)[number]

export type Fields = Record<string, unknown>

/** An ID as the service writes it; most are text. */
export type Id = number | string

/** A row under the name that identifies it in a file. `id` is set if it exists in the service. */
export type Row = {
  key: string
  id?: Id
  fields: Fields
  /** Of a group in the service: the numbers of its members who cannot be asked. */
  asleep?: string[]
  /** Of a group in a file: its members as they are typed there. */
  typed?: string[] | undefined
}

/** Rows by section; a section that is absent is ignored. */
export type Rows = Partial<Record<Section, Row[]>>

/** The organization in the service. Without `org_id` it does not exist. */
export type State = {
  slug: string
  org_id?: number | undefined
  rows: Rows
  /** Names of several rows. A file cannot distinguish these rows, so they stay as they are. */
  ambiguous: { section: Section; key: string; ids: Id[] }[]
  /** What people are called, by their numbers, as far as groups were read. */
  names: Map<string, string>
}

/** A number alone says nothing to whoever reads a plan. */
export const whomOf = ({ id, fields }: Pick<Row, 'id' | 'fields'>): string =>
  `${fields.first_name} ${fields.last_name} (user ${id})`

/** The sections that are lists, and the field that identifies a row. */
export const keyOf = {
  geofences: 'name',
  timeslots: 'name',
  auth_codes: 'label',
  users: 'mobile',
  groups: 'name',
  rules: 'name',
} as const
export type List = keyof typeof keyOf
export const isList = (section: Section): section is List => section in keyOf

const slotFields = ['name', 'days', 'start', 'end', 'timezone', 'is_active']
const fenceFields = ['name', 'latitude', 'longitude', 'radius', 'enabled']

export const policyFields = Object.keys(fieldSchemas(policy))

/** The fields of the rows of a section, in display order. */
export const fieldsOf: Record<Section, readonly string[]> = {
  organization: ['name', ...policyFields],
  geofences: ['latitude', 'longitude', 'radius', 'is_active'],
  timeslots: slotFields.slice(1),
  auth_codes: ['uses', 'expires_at'],
  idp: ['provider', 'client_id'],
  users: ['first_name', 'last_name', 'email', 'role', 'state', 'geofences', 'timeslots'],
  groups: ['members'],
  rules: Object.keys(fieldSchemas(ruleShape)).filter((name) => name !== 'name'),
}

/** Rows that are replaced whole: a field that the file leaves out is removed. */
export const replaced: ReadonlySet<Section> = new Set(['rules'])

/** Groups and rules decide who approves, so people sign all of their changes together. */
export const isSigned = (section: Section): section is 'groups' | 'rules' =>
  section === 'groups' || section === 'rules'

/** Fields that are set when a row is created and not compared later, because they count down. */
export const onlyAtCreation: Partial<Record<Section, readonly string[]>> = { auth_codes: ['uses'] }

/** Without duplicates, in the order of `order`; other items follow in alphabetical order. */
const sorted = (value: unknown, order: readonly unknown[] = []): unknown => {
  if (!Array.isArray(value)) return value
  const place = (item: unknown): string =>
    order.includes(item) ? String.fromCharCode(order.indexOf(item)) : `~${String(item)}`
  return [...new Set(value as unknown[])].toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
}

const picked = (row: unknown, names: readonly string[]): Fields =>
  Object.fromEntries(
    names
      .filter((name) => (row as Fields)[name] !== undefined)
      .map((name) => [name, normal(name, (row as Fields)[name])]),
  )

/** The order of the fields of an object has no meaning. */
const text = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

/** Sorts rows of a user, whose order has no meaning. */
const set = (value: unknown, names: readonly string[], missing: Fields = {}): unknown =>
  Array.isArray(value)
    ? value
        .map((row: unknown) => picked({ ...missing, ...(row as Fields) }, names))
        .toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
    : value

const moment = (value: unknown): unknown => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? value : new Date(time).toISOString()
}

const normals: Record<string, (value: unknown) => unknown> = {
  days: (days) => sorted(days, weekdays),
  factors: (list) => sorted(list, factors),
  report_only: (list) => sorted(list, factors),
  authenticators: (list) => sorted(list, authenticators),
  allowed_aaguids: (list) =>
    Array.isArray(list) ? sorted(list.map((entry) => String(entry).toLowerCase())) : list,
  ip_allow: (list) =>
    Array.isArray(list)
      ? sorted(list.map((entry) => (typeof entry === 'string' && normalizeNetwork(entry)) || entry))
      : list,
  expires_at: moment,
  members: sorted,
  geofences: (list) => set(list, fenceFields),
  timeslots: (list) => set(list, slotFields, { is_active: 1 }),
}

/** The canonical form of a value, for comparisons. */
export const normal = (field: string, value: unknown): unknown => normals[field]?.(value) ?? value

/** The known fields of a record in canonical form. */
export const knownFields = (section: Section, record: unknown): Fields => picked(record, fieldsOf[section])

export const same = (a: unknown, b: unknown): boolean => text(a ?? null) === text(b ?? null)

const policyDefaults = {
  ip_allow: [],
  device_trust: false,
  require_number: false,
  factors: [],
  report_only: [],
  separation: 'standard',
  not_requester: false,
}

/** The fields of an organization and of its policy, with the defaults of a policy. */
export const organizationFields = (record: Fields): Fields =>
  knownFields('organization', {
    ...record,
    ...(record.policy ? { ...policyDefaults, ...record.policy } : {}),
  })
