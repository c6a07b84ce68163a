import { expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const reviewed = (verdict: string, ...flags: string[]) => {
  const break_glass = {
    reason: 'prod down',
    skipped: ['2'],
    told: ['2'],
    review: { by: '2', verdict, at: '' },
  }
  const data = { request_id: 'apr_1', status: 'approved', action: 'Restore', break_glass }
  service.always(json(200, { status: 'success', message: 'Emergency reviewed', data }))
  return run(['approve', 'review', 'apr_1', ...flags], { tty: true })
}

test('a review that was right and a dispute read differently, in green and in red', async () => {
  const right = await reviewed('ok', '--ok')
  expect(right.err).toContain('You said that it was right.')
  expect(right.out).toContain('\u001b[32mok')
  const disputed = await reviewed('disputed', '--dispute', '--note', 'It could have waited')
  expect(disputed.err).toContain('DISPUTED: everybody who was told of it learns that')
  expect(disputed.out).toContain('\u001b[31mdisputed')
})
