import { expect, test } from 'vitest'
import { svc } from '../svc.ts'

// 2 could be the exit code of the command that runs.
test.each([
  'guard exec -o json -- true',
  'guard exec -o xml -- true',
  'guard ssh --jq .',
  'guard git -o yaml',
  'guard exec --unknown -- true',
  'guard exce -- true',
  'guard --unknown',
  'guard',
  'approve run -o xml --to +12025550101 -- true',
  'approve run --unknown -- true',
])('svc %s exits with 102', async (line) => {
  expect((await svc(line)).exit).toBe(102)
})

test.each(['guard check -o xml', 'guard check --unknown', 'approve list -o xml', 'approve exce'])(
  'svc %s exits with 2',
  async (line) => {
    expect((await svc(line)).exit).toBe(2)
  },
)
