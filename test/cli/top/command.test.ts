import { expect, test } from 'vitest'
import { svc } from '../svc.ts'

test('svc top --help names the keys that each part requires', async () => {
  const { out } = await svc('top --help')
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    'Scope of the key: read; notifications also require notify, and nodes an operator key',
  )
})
