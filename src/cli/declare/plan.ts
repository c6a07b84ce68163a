import type { Rule } from '../../contract/rule-shape.ts'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import {
  fieldsOf,
  onlyAtCreation,
  replaced,
  same,
  sections,
  type Fields,
  type Id,
  type Row,
  type Rows,
  type Section,
  type State,
  whomOf,
} from './state.ts'
import type { WantedState } from './document.ts'

/** `by_hand`: no operation can do this from a file; `note` says what to do. */
type Action = 'create' | 'change' | 'delete' | 'by_hand'

export type Change = { field: string; before?: unknown; after?: unknown }
export type Step = {
  action: Action
  section: Section
  key: string
  id?: Id | undefined
  changes: Change[]
  note?: string | undefined
  /** All fields of a row that is replaced whole. */
  whole?: Fields
}
export type Plan = {
  organization: string
  /** In the order in which they are applied. */
  steps: Step[]
  /** In the service and not in the file. */
  extra: { section: Section; key: string }[]
  ambiguous: State['ambiguous']
  names: State['names']
}

const changesOf = (section: Section, wanted: Row, present?: Row): Change[] =>
  fieldsOf[section].flatMap((field): Change[] => {
    const after = wanted.fields[field]
    const before = present?.fields[field]
    if (after === undefined) return before !== undefined && replaced.has(section) ? [{ field, before }] : []
    if (!present) return [{ field, after }]
    return onlyAtCreation[section]?.includes(field) || same(before, after) ? [] : [{ field, before, after }]
  })

/** A file contains no secret, and no operation removes a provider, so a person must do both. */
const idpStep = (slug: string, wanted: Row | undefined, present: Row | undefined): Step[] => {
  const step = { action: 'by_hand', section: 'idp', key: 'idp' } as const
  if (!wanted) {
    if (!present) return []
    const changes = Object.entries(present.fields).map(([field, before]) => ({ field, before }))
    return [{ ...step, changes, note: 'the service has an identity provider, and no operation removes it' }]
  }
  const changes = changesOf('idp', wanted, present)
  if (changes.length === 0) return []
  const { provider, client_id } = wanted.fields
  const command = `svc org creds set-idp --org ${shellQuote(slug)} --provider ${shellQuote(String(provider))} --client-id ${shellQuote(String(client_id))} --client-secret-file FILE`
  return [{ ...step, changes, note: `requires the secret: ${command}` }]
}

const sectionSteps = (section: Section, wanted: readonly Row[], present: Map<string, Row>): Step[] =>
  wanted.flatMap((row): Step[] => {
    const there = present.get(row.key)
    const changes = changesOf(section, row, there)
    const step = { section, key: row.key, changes, ...(replaced.has(section) && { whole: row.fields }) }
    if (!there) return [{ action: 'create', ...step }]
    const note = section === 'users' ? whomOf(there) : undefined
    return changes.length === 0 ? [] : [{ action: 'change', ...step, id: there.id, note }]
  })

const refuseAmbiguous = (wanted: Rows, { ambiguous, slug }: State): void => {
  const meant = ambiguous.filter(({ section, key }) => wanted[section]?.some((row) => row.key === key))
  if (meant.length === 0) return
  throw new SvcError(
    'failed',
    'ambiguous',
    'The service has several rows with a name from the file, and svc cannot tell which one you mean',
    {
      issues: meant.map(({ section, key, ids }) => ({
        field: `${section}/${key}`,
        message: `is the name of ${ids.length}: ids ${ids.join(', ')}`,
      })),
      hint: `Give each a unique name: svc geofence update ${shellQuote(String(meant[0]!.ids.at(-1)))} --org ${shellQuote(slug)} --name …`,
    },
  )
}

/** The steps that turn `present` into `wanted`. Sections that are absent on either side stay as they are. */
export const planFrom = (wanted: WantedState, present: State, { prune }: { prune: boolean }): Plan => {
  refuseAmbiguous(wanted.rows, present)
  const steps: Step[] = []
  const extra: Plan['extra'] = []
  let deletes: Step[] = []
  for (const section of sections) {
    const rows = wanted.rows[section]
    const there = present.rows[section]
    if (!rows || !there) continue
    if (section === 'idp') {
      steps.push(...idpStep(present.slug, rows[0], there[0]))
      continue
    }
    const known = new Map(there.map((row) => [row.key, row]))
    for (const step of sectionSteps(section, rows, known)) steps.push(step)
    for (const { key } of rows) known.delete(key)
    const left = [...known.values()]
    if (prune)
      deletes = left
        .map((row): Step => ({
          action: 'delete',
          section,
          key: row.key,
          id: row.id,
          changes: [],
          ...(section === 'users' && { note: `${whomOf(row)}, removed; the history stays` }),
        }))
        .concat(deletes)
    else for (const { key } of left) extra.push({ section, key })
  }
  return {
    organization: present.slug,
    steps: [...steps, ...deletes],
    extra,
    ambiguous: present.ambiguous,
    names: present.names,
  }
}

/** Rules of a plan that will hold something else than now. */
export const changedRules = ({ steps }: Plan): Rule[] =>
  steps.flatMap(({ section, key, whole, changes }) =>
    section === 'rules' && whole && changes.some(({ field }) => field === 'except' || field === 'match')
      ? [{ ...(whole as unknown as Rule), name: key }]
      : [],
  )
