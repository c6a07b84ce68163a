import { placedIssuesOf } from '../../contract/issues.ts'
import { organizationDocument, type OrganizationDocument } from '../../contract/organization-document.ts'
import { normalizeNetwork } from '../../factors/network.ts'
import { readPhone } from '../../factors/phone.ts'
import { isZone } from '../../factors/instant.ts'
import { ruleProblems } from '../../rules/check.ts'
import { expandSlots } from '../operation/typed-time.ts'
import { keyOf, knownFields, type Fields, type List, type Row, type Rows } from './state.ts'
import { parseYaml, type Parsed, type Problem } from './yaml.ts'
import { isRecord } from '../../core/is-record.ts'

/** What a file describes. A section that it does not have stays as it is. */
export type WantedState = { slug: string; rows: Rows }

type Slot = { start?: string; end?: string; timezone?: string }
const lists = Object.keys(keyOf) as List[]

/** Expands ranges such as `mon-fri` in all time slots of a file. */
const expandAllDays = (value: unknown): unknown => {
  if (!isRecord(value)) return value
  const { users } = value
  return {
    ...value,
    ...('timeslots' in value && { timeslots: expandSlots(value['timeslots']) }),
    ...(Array.isArray(users) && { users: users.map(expandAllDays) }),
  }
}

const adviceFor = (message: string, field: string, typed: unknown): string => {
  if (message === 'must be text' && typeof typed === 'number') return ': put it in quotes'
  if (message === 'must be a list' && typeof typed === 'string') return `: [${JSON.stringify(typed)}]`
  return field === 'svc' && typed === undefined ? ': write svc: 1' : ''
}

const checkShape = (value: unknown, { invalid }: Parsed): OrganizationDocument => {
  const checked = organizationDocument.safeParse(value)
  if (checked.success) return checked.data
  throw invalid(
    placedIssuesOf(checked.error, organizationDocument, value).map(({ path, field, message }) => {
      const typed = path.reduce<unknown>(
        (inner, part) => (inner as Record<PropertyKey, unknown> | undefined)?.[part],
        value,
      )
      return { path, field, message: message + adviceFor(message, field, typed) }
    }),
  )
}

/** `match.cwd[0]` as a path. */
const partsOf = (field: string): PropertyKey[] =>
  (field.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part))

/** Checks what the schema cannot express, and converts phone numbers to E.164. */
const findProblems = (document: OrganizationDocument): Problem[] => {
  const problems: Problem[] = []
  const add = (message: string, ...path: PropertyKey[]): void => void problems.push({ path, message })
  const checkSlots = (slots: readonly Slot[] = [], ...path: PropertyKey[]): void => {
    for (const [i, { start, end, timezone }] of slots.entries()) {
      if (timezone !== undefined && !isZone(timezone))
        add('must be an IANA time zone such as Europe/Berlin or UTC', ...path, i, 'timezone')
      if (start === end) add('must differ from start', ...path, i, 'end')
    }
  }
  const wrongNetwork = 'must be a network such as 203.0.113.0/24, or an address'
  for (const [i, entry] of (document.organization.policy?.ip_allow ?? []).entries())
    if (normalizeNetwork(entry) === undefined) add(wrongNetwork, 'organization', 'policy', 'ip_allow', i)
  for (const [i, user] of (document.users ?? []).entries()) {
    const phone = readPhone(user.mobile)
    if ('wrong' in phone) add(phone.message, 'users', i, 'mobile')
    else user.mobile = phone.mobile
    checkSlots(user.timeslots, 'users', i, 'timeslots')
  }
  checkSlots(document.timeslots, 'timeslots')
  for (const [i, { members }] of (document.groups ?? []).entries())
    for (const [k, mobile] of members.entries()) {
      const phone = readPhone(mobile)
      if ('wrong' in phone) add(phone.message, 'groups', i, 'members', k)
      else members[k] = phone.mobile
    }
  for (const [i, one] of (document.rules ?? []).entries())
    for (const { field, message } of ruleProblems(one)) add(message, 'rules', i, ...partsOf(field))
  for (const list of lists) {
    const seen = new Map<unknown, number>()
    for (const [i, row] of (document[list] ?? []).entries()) {
      const key = (row as Fields)[keyOf[list]]
      const first = seen.get(key)
      if (first === undefined) seen.set(key, i)
      else add(`is the same as in ${list}[${first}]; each must be unique`, list, i, keyOf[list])
    }
  }
  return problems
}

/** Reads and checks a file without any request. Throws one error with all problems and their lines. */
export const readDocument = (text: string, file: string): WantedState & Pick<Parsed, 'invalid'> => {
  const parsed = parseYaml(text, file)
  const document = checkShape(expandAllDays(parsed.value), parsed)
  const problems = findProblems(document)
  if (problems.length > 0) throw parsed.invalid(problems)

  const { organization, idp } = document
  const { slug } = organization
  const rows: Rows = {
    organization: [
      { key: slug, fields: knownFields('organization', { ...organization, ...organization.policy }) },
    ],
  }
  for (const list of lists)
    if (document[list])
      rows[list] = document[list].map((row): Row => ({
        key: (row as Fields)[keyOf[list]] as string,
        fields: knownFields(list, row),
        typed: 'members' in row ? row.members : undefined,
      }))
  if (idp !== undefined) rows.idp = idp ? [{ key: 'idp', fields: knownFields('idp', idp) }] : []
  return { slug, rows, invalid: parsed.invalid }
}
