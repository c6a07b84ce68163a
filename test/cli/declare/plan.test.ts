import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WantedState } from '../../../src/cli/declare/document.ts'
import { planFrom, type Plan } from '../../../src/cli/declare/plan.ts'
import { boundPlan, planText } from '../../../src/cli/declare/plan-output.ts'
import { sections, type Row, type Rows, type Section, type State } from '../../../src/cli/declare/state.ts'
import { organization } from './rows.ts'

let ids = 0
const withIds = ({ slug, rows }: WantedState): State => ({
  slug,
  org_id: 1,
  ambiguous: [],
  names: new Map(),
  rows: Object.fromEntries(
    Object.entries(rows).map(([section, list]) => [section, list.map((row) => ({ ...row, id: ++ids }))]),
  ) as Rows,
})

/** The state of a service after the plan was applied. */
const applied = ({ rows }: State, plan: Plan): Rows => {
  const after = structuredClone(rows)
  for (const { action, section, key, changes } of plan.steps) {
    const list = (after[section] ??= [])
    const given = Object.fromEntries(changes.map(({ field, after: value }) => [field, value]))
    if (action === 'create') list.push({ key, fields: given })
    else if (action === 'delete') after[section] = list.filter((row) => row.key !== key)
    else Object.assign(list.find((row) => row.key === key)!.fields, given)
  }
  return after
}

const plain = (rows: Rows): unknown =>
  Object.fromEntries(
    Object.entries(rows).map(([section, list]) => [
      section,
      Object.fromEntries(list.map(({ key, fields }) => [key, fields])),
    ]),
  )

const fenceCalled = (key: string): WantedState => ({
  slug: 'acme',
  rows: { geofences: [{ key, fields: {} }] },
})

const only = (section: Section, wanted: Row[], present: Row[]): Plan =>
  planFrom(
    { slug: 'acme', rows: { [section]: wanted } },
    { slug: 'acme', org_id: 1, ambiguous: [], names: new Map(), rows: { [section]: present } },
    { prune: false },
  )

test('names each person who changes or leaves', () => {
  const fields = { first_name: 'Ada', last_name: 'Lovelace', role: 'member' }
  const present = [
    { key: '+12025550101', id: 7, fields },
    { key: '+12025550102', id: 8, fields: { ...fields, first_name: 'Eve' } },
  ]
  const wanted = { slug: 'acme', rows: { users: [{ key: '+12025550101', fields: { role: 'admin' } }] } }
  const state = { slug: 'acme', org_id: 1, ambiguous: [], names: new Map(), rows: { users: present } }
  const plan = planFrom(wanted, state, { prune: true })
  expect(planText(plan, { colour: false, masked: true })).toBe(`  ~ users/+1••••••0101  Ada Lovelace (user 7)
      role  member -> admin
  - users/+1••••••0102  Eve Lovelace (user 8), removed; the history stays

0 to create, 1 to change, 1 to delete
`)
  expect(boundPlan(plan, 'acme.yaml')).toMatchObject({
    body: { 'users/+12025550101: Ada Lovelace (user 7)': { role: 'admin' } },
    deletions: ['users/+12025550102: Eve Lovelace (user 8), removed; the history stays'],
  })
})

test('plans hundreds of thousands of rows that are not in the file', () => {
  const present = Array.from({ length: 200_000 }, (_, id) => ({ key: `fence ${id}`, id, fields: {} }))
  const state = { slug: 'acme', org_id: 1, ambiguous: [], names: new Map(), rows: { geofences: present } }
  const wanted = { slug: 'acme', rows: { geofences: [] } }
  expect(planFrom(wanted, state, { prune: false }).extra).toHaveLength(200_000)
  expect(planFrom(wanted, state, { prune: true }).steps).toHaveLength(200_000)
})

const codeWith = (uses: number): Row[] => [{ key: 'Berlin', id: 1, fields: { uses } }]

describe('a plan', () => {
  test('applied with --prune turns any organization into any other', () => {
    fc.assert(
      fc.property(organization, organization, (before, wanted) => {
        const state = withIds(before)
        const plan = planFrom(wanted, state, { prune: true })
        expect(plain(applied(state, plan))).toEqual(plain(wanted.rows))
      }),
    )
  })

  test('without --prune deletes nothing, lists what it keeps, and makes every other change', () => {
    fc.assert(
      fc.property(organization, organization, (before, wanted) => {
        const state = withIds(before)
        const plan = planFrom(wanted, state, { prune: false })
        expect(plan.steps.some(({ action }) => action === 'delete')).toBe(false)
        const left = new Set(plan.extra.map(({ section, key }) => `${section}/${key}`))
        const after = applied(state, plan)
        const mine = Object.fromEntries(
          Object.entries(after).map(([section, rows]) => [
            section,
            rows.filter(({ key }) => !left.has(`${section}/${key}`)),
          ]),
        )
        expect(plain(mine)).toEqual(plain(wanted.rows))
      }),
    )
  })

  test('is empty for equal states, and for a file without sections', () => {
    fc.assert(
      fc.property(organization, (same) => {
        expect(planFrom(same, withIds(same), { prune: true }).steps).toEqual([])
        expect(planFrom({ slug: 'acme', rows: {} }, withIds(same), { prune: true }).steps).toEqual([])
      }),
    )
  })

  test('follows the order of the sections and deletes last, users first', () => {
    fc.assert(
      fc.property(organization, organization, (before, wanted) => {
        const { steps } = planFrom(wanted, withIds(before), { prune: true })
        const order = steps.map(({ action, section }) =>
          action === 'delete' ? 10 - sections.indexOf(section) + 100 : sections.indexOf(section),
        )
        expect(order).toEqual(order.toSorted((a, b) => a - b))
      }),
    )
  })

  test('keeps fields that the file does not mention', () => {
    const { steps } = only(
      'users',
      [{ key: '+12025550101', fields: { first_name: 'Ada' } }],
      [
        {
          key: '+12025550101',
          id: 7,
          fields: { first_name: 'Ada', role: 'admin', geofences: [{ name: 'Home' }] },
        },
      ],
    )
    expect(steps).toEqual([])
  })

  test('ignores the remaining uses of a code', () => {
    expect(only('auth_codes', codeWith(50), codeWith(49)).steps).toEqual([])
    expect(only('auth_codes', codeWith(50), []).steps).toMatchObject([
      { action: 'create', changes: [{ after: 50 }] },
    ])
  })

  test('leaves an identity provider to a person, with the command and without the secret', () => {
    const okta: Row[] = [{ key: 'idp', fields: { provider: "o'kta", client_id: 'x' } }]
    const { steps } = only('idp', okta, [])
    expect(steps).toMatchObject([
      {
        action: 'by_hand',
        note: `requires the secret: svc org creds set-idp --org acme --provider 'o'\\''kta' --client-id x --client-secret-file FILE`,
      },
    ])
    expect(only('idp', okta, okta).steps).toEqual([])
    expect(only('idp', [], okta).steps).toMatchObject([
      { action: 'by_hand', note: expect.stringContaining('no operation') },
    ])
  })

  test('is rejected if several objects of the service have a name of the file', () => {
    const state: State = {
      slug: 'acme',
      org_id: 1,
      rows: { geofences: [] },
      ambiguous: [{ section: 'geofences', key: 'HQ', ids: [3, 7] }],
      names: new Map(),
    }
    expect(planFrom(fenceCalled('Lab'), state, { prune: true }).steps).toHaveLength(1)
    const refuse = (): unknown => planFrom(fenceCalled('HQ'), state, { prune: true })
    expect(refuse).toThrow(
      expect.objectContaining({
        code: 'ambiguous',
        issues: [{ field: 'geofences/HQ', message: 'is the name of 2: ids 3, 7' }],
        hint: expect.stringContaining('svc geofence update 7 --org acme'),
      }),
    )
  })
})
