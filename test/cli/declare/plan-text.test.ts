import { describe, expect, test } from 'vitest'
import { planFrom, type Plan } from '../../../src/cli/declare/plan.ts'
import { planText } from '../../../src/cli/declare/plan-output.ts'

describe('the text of a plan', () => {
  const plan: Plan = {
    organization: 'acme',
    steps: [
      { action: 'create', section: 'geofences', key: 'HQ', changes: [{ field: 'radius', after: 150 }] },
      {
        action: 'change',
        section: 'users',
        key: '+12025550101',
        id: 7,
        changes: [
          { field: 'email', before: 'ada@acme.example', after: 'ada@new.example' },
          {
            field: 'geofences',
            before: [],
            after: [{ name: 'Home', latitude: 1, longitude: 2, radius: 3, enabled: false }],
          },
        ],
      },
      {
        action: 'delete',
        section: 'users',
        key: '+12025550102',
        id: 8,
        changes: [],
        note: 'removed; the history stays',
      },
    ],
    extra: [{ section: 'timeslots', key: 'Evil\u202Egnihton' }],
    ambiguous: [],
    names: new Map(),
  }

  test('is aligned, shows old and new values, and is readable without colour', () => {
    expect(planText(plan, { colour: false, masked: false })).toBe(`  + geofences/HQ        radius 150
  ~ users/+12025550101
      email      ada@acme.example -> ada@new.example
      geofences  (empty) -> Home 1,2 3 m (off)
  - users/+12025550102  removed; the history stays

Only in the service: timeslots/Evil\\u{202e}gnihton

1 to create, 1 to change, 1 to delete; 1 only in the service (--prune deletes it)
`)
  })

  test('is the same in colour, and masks phone numbers and e-mail addresses on request', () => {
    const colour = planText(plan, { colour: true, masked: false })
    // oxlint-disable-next-line no-control-regex
    expect(colour.replaceAll(/\u001b\[\d+m/g, '')).toBe(planText(plan, { colour: false, masked: false }))
    expect(colour).not.toBe(planText(plan, { colour: false, masked: false }))
    const masked = planText(plan, { colour: false, masked: true })
    expect(masked).toContain('users/+1••••••0101')
    expect(masked).toContain('a•••@acme.example -> a•••@new.example')
  })

  test('names the members of a group, as far as the service knows them', () => {
    const [known, unknown] = ['+12025550101', '+12025550102']
    const wanted = [{ key: 'sre', fields: { members: [known, unknown] } }]
    const present = [{ key: 'sre', id: '1', fields: { members: [] } }]
    const state = { slug: 'acme', org_id: 1, ambiguous: [], names: new Map(), rows: { groups: present } }
    const members = planFrom({ slug: 'acme', rows: { groups: wanted } }, state, { prune: false })
    const names = new Map([[known, 'Ada Lovelace (user 7)']])
    const shown = planText({ ...members, names }, { colour: false, masked: true })
    expect(shown).toContain('+ Ada Lovelace (user 7), + +1••••••0102\n')
  })
})
