import { placedIssuesOf } from '../../contract/issues.ts'
import { organizationDocument, type OrganizationDocument } from '../../contract/organization-document.ts'
import type { Issue } from '../../core/errors.ts'
import { normalizeNetwork } from '../../rules/network.ts'
import { readPhone } from '../../rules/phone.ts'
import { isZone } from '../../rules/instant.ts'
import { expandSlots } from '../operation/typed-time.ts'
import { keyOf, knownFields, type Fields, type List, type Row, type Rows } from './state.ts'
import { parseYaml, wrongFile, type Parsed } from './yaml.ts'
import { isRecord } from '../../core/is-record.ts'

/** What a file wants; a section that it leaves out is left alone. */
export type Wanted = { slug: string; rows: Rows }

type Problem = { path: PropertyKey[]; message: string }
type Slot = { start?: string; end?: string; timezone?: string }
const lists = Object.keys(keyOf) as List[]

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown> | undefined)?.[part], value)

/** Days may be written as ranges wherever a file has time slots. */
const withDays = (value: unknown): unknown => {
  if (!isRecord(value)) return value
  const { users } = value
  return {
    ...value,
    ...('timeslots' in value && { timeslots: expandSlots(value['timeslots']) }),
    ...(Array.isArray(users) && { users: users.map(withDays) }),
  }
}

const checkShape = (value: unknown, { place }: Parsed, file: string): OrganizationDocument => {
  const checked = organizationDocument.safeParse(value)
  if (checked.success) return checked.data
  throw wrongFile(
    file,
    placedIssuesOf(checked.error, organizationDocument, value).map(({ field, message, path }): Issue => {
      const given = valueAt(value, path)
      const quote = message === 'must be text' && typeof given === 'number' ? ': put it in quotes' : ''
      return { field: `${place(path)} ${field}`, message: message + quote }
    }),
  )
}

const slotProblems = (slots: readonly Slot[] | undefined, path: PropertyKey[]): Problem[] => {
  const problems: Problem[] = []
  for (const [i, { start, end, timezone }] of (slots ?? []).entries()) {
    if (timezone !== undefined && !isZone(timezone))
      problems.push({
        path: [...path, i, 'timezone'],
        message: 'must be an IANA time zone such as Europe/Berlin or UTC',
      })
    if (start === end) problems.push({ path: [...path, i, 'end'], message: 'must differ from start' })
  }
  return problems
}

/** Keys that stand twice; phones already in their one spelling. */
const repeatedKeys = (document: OrganizationDocument, list: List): Problem[] => {
  const seen = new Map<string, number>()
  return (document[list] ?? []).flatMap((row, i): Problem[] => {
    const key = (row as Fields)[keyOf[list]] as string
    const first = seen.get(key)
    if (first === undefined) seen.set(key, i)
    return first === undefined
      ? []
      : [
          {
            path: [list, i, keyOf[list]],
            message: `is the same as in ${list}[${first}]; each must be unique`,
          },
        ]
  })
}

/** What a schema alone does not see. Puts phones into their one spelling. */
const problemsOf = (document: OrganizationDocument): Problem[] => {
  const problems: Problem[] = []
  for (const [i, entry] of (document.organization.policy?.ip_allow ?? []).entries())
    if (normalizeNetwork(entry) === undefined)
      problems.push({
        path: ['organization', 'policy', 'ip_allow', i],
        message: 'must be a network such as 203.0.113.0/24, or an address',
      })
  for (const [i, user] of (document.users ?? []).entries()) {
    const phone = readPhone(user.mobile)
    if ('wrong' in phone) problems.push({ path: ['users', i, 'mobile'], message: phone.message })
    else user.mobile = phone.mobile
    for (const problem of slotProblems(user.timeslots, ['users', i, 'timeslots'])) problems.push(problem)
  }
  const ofSlots = slotProblems(document.timeslots, ['timeslots'])
  return [...problems, ...ofSlots, ...lists.flatMap((list) => repeatedKeys(document, list))]
}

const dotted = (path: PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1)

/** Reads what a file wants. Everything wrong in it is told at once, each with its line; nothing was asked of a service. */
export const readDocument = (text: string, file: string): Wanted => {
  const parsed = parseYaml(text, file)
  const document = checkShape(withDays(parsed.value), parsed, file)
  const problems = problemsOf(document)
  if (problems.length > 0)
    throw wrongFile(
      file,
      problems.map(({ path, message }) => ({ field: `${parsed.place(path)} ${dotted(path)}`, message })),
    )

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
      }))
  if (idp !== undefined) rows.idp = idp ? [{ key: 'idp', fields: knownFields('idp', idp) }] : []
  return { slug, rows }
}
