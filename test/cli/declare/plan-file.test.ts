import { readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  checkStillValid,
  planFileOf,
  readPlan,
  writePlan,
  type PlanFile,
} from '../../../src/cli/declare/plan-file.ts'
import { planFrom } from '../../../src/cli/declare/plan.ts'
import type { State } from '../../../src/cli/declare/state.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { memoryIo } from '../memory-io.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const base_url = 'https://api.example/admin/public/api'
const held = (radius: number, id = 3): State => ({
  slug: 'acme',
  org_id: 1,
  ambiguous: [],
  rows: { geofences: [{ key: 'HQ', id, fields: { radius } }] },
})
const planned = (): PlanFile => {
  const wanted = { slug: 'acme', rows: { geofences: [{ key: 'HQ', fields: { radius: 300 } }] } }
  const scope = { sections: ['geofences'] as const, rules: false }
  const plan = planFrom(wanted, held(150), { prune: true })
  return planFileOf(plan, held(150), { base_url, source: 'org.yaml', scope })
}

const valid =
  (plan: PlanFile, state: State, url = base_url) =>
  (): void =>
    checkStillValid(plan, state, url, 'svc apply org.yaml --plan-out FILE')

describe('a saved plan', () => {
  test('is read as it was written, is private, and replaces the previous one', () => {
    const io = memoryIo({ cwd: folder.path })
    writePlan('a.plan', { ...planned(), source: 'old' }, io)
    writePlan('a.plan', planned(), io)
    expect(readPlan('a.plan', io)).toEqual(planned())
    expect(statSync(join(folder.path, 'a.plan')).mode & 0o777).toBe(0o600)
  })

  test('does not overwrite any other file', () => {
    const io = memoryIo({ cwd: folder.path })
    const path = (name: string): string => join(folder.path, name)
    writeFileSync(path('org.yaml'), 'svc: 1\n')
    symlinkSync('/dev/null', path('null'))
    for (const name of ['org.yaml', 'null'])
      expect(() => writePlan(name, planned(), io)).toThrow(expect.objectContaining({ exit: 'usage' }))
    expect(readFileSync(path('org.yaml'), 'utf8')).toBe('svc: 1\n')
    expect(readlinkSync(path('null'))).toBe('/dev/null')
  })

  test('is valid only for the service and organization that it was made for', () => {
    expect(valid(planned(), held(150))).not.toThrow()
    const stale = expect.objectContaining({ code: 'stale_plan' })
    expect(valid(planned(), held(151))).toThrow(stale)
    expect(valid(planned(), held(150, 4))).toThrow(stale)
    expect(valid(planned(), { ...held(150), org_id: 2 })).toThrow(stale)
    expect(valid(planned(), { ...held(150), org_id: undefined, rows: { geofences: [] } })).toThrow(stale)
    expect(valid(planned(), held(150), 'https://other.example')).toThrow(
      expect.objectContaining({ exit: 'usage' }),
    )
  })

  test('cannot be edited to change another object', () => {
    const [step] = planned().steps
    const steps = [
      { ...step!, id: 4 },
      { ...step!, key: 'Lab' },
      { ...step!, section: 'timeslots' as const },
      { ...step!, action: 'create' as const },
      { ...step!, action: 'delete' as const, id: undefined },
    ]
    for (const one of steps)
      expect(() => checkStillValid({ ...planned(), steps: [one] }, held(150), base_url, '')).toThrow(
        expect.objectContaining({ code: 'stale_plan' }),
      )
  })

  test.each([
    ['no JSON', 'svc: 1'],
    ['something else', '{"a":1}'],
    ['another version', JSON.stringify({ ...planned(), svc_plan: 2 })],
    ['a further member', JSON.stringify({ ...planned(), key: 'x' })],
    ['an unsafe character', JSON.stringify(planned()).replace('"radius"', '"\\u001b[2J"')],
  ])('is rejected if it contains %s', (_, text) => {
    const io = memoryIo({ cwd: folder.path })
    writeFileSync(join(folder.path, 'x.plan'), text)
    expect(() => readPlan('x.plan', io)).toThrow(expect.objectContaining({ exit: 'usage' }))
    expect(() => readPlan('none.plan', io)).toThrow(/it does not exist/)
  })
})
