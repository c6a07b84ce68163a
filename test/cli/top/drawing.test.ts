import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { drawScreen, type Look } from '../../../src/cli/top/drawing.ts'
import type { Snapshot } from '../../../src/cli/top/panels.ts'

const now = new Date('2026-01-01T12:00:00Z')
const look: Look = { columns: 80, rows: 24, colour: false, now, reveal: false }

const request = (i: number, action = `Deploy ${i}`) => ({
  request_id: `apr_${i}`,
  status: 'approved',
  expires_at: '2026-01-01T12:05:00.000Z',
  decided_at: '2026-01-01T11:58:00.000Z',
  approver_mobile: '+12025550101',
  verified_as: 'key "ci"',
  action,
})
const many = Array.from({ length: 40 }, (_, i) => request(i))
const none = { rows: [] }
const empty: Snapshot = { pending: none, decisions: none, channels: none, messages: none, nodes: none }

describe('the screen of svc top', () => {
  test.each([
    [80, 24],
    [60, 12],
    [40, 8],
    [200, 60],
  ])('fits %i columns and %i rows', (columns, rows) => {
    const lines = drawScreen({ ...empty, pending: { rows: many }, decisions: { rows: many } }, 'svc top', {
      ...look,
      columns,
      rows,
    })
    expect(lines.length).toBeLessThanOrEqual(rows)
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
  })

  test('uses every row when there is more to show, and gives each part a share', () => {
    const lines = drawScreen(
      { ...empty, pending: { rows: many }, decisions: { rows: many } },
      'svc top',
      look,
    )
    expect(lines).toHaveLength(24)
    for (const title of ['Pending (40)', 'Decided (40)', 'Notifications', 'Channels', 'Nodes'])
      expect(lines).toContain(title)
    expect(lines.filter((line) => line.endsWith(' more'))).toHaveLength(2)
  })

  test('says at 80 columns who asks for what, and what it leaves out', () => {
    const subject = { summary: 'Delete user: 7' }
    const pending = {
      rows: [{ ...request(1, 'Tidy up'), request_id: 'apr_qUwKiR8OWEkuJdPbLuNG0zlu', subject }],
    }
    const [, title, head, row] = drawScreen({ ...empty, pending }, '', look)
    expect([title, head!.split(/ {2,}/), row!.split(/ {2,}/).slice(2)]).toEqual([
      'Pending (1), without APPROVER',
      ['REQUEST_ID', 'EXPIRES_AT', 'VERIFIED_AS', 'ACTION'],
      ['key "ci"', 'Delete user: 7'],
    ])
  })

  test('names who denied a request, not everybody who was asked', () => {
    const people = [
      { user_id: '1', name: 'Ada Lovelace', answer: 'pending' },
      { user_id: '2', name: 'Grace Hopper', answer: 'denied' },
    ]
    const rows = [{ ...request(1), status: 'denied', lines: [{ group: 'dba', need: 2, people }] }]
    const shown = drawScreen({ ...empty, decisions: { rows } }, '', { ...look, columns: 120 }).join('\n')
    expect(shown).toContain('Grace Hopper')
    expect(shown).not.toContain('@dba')
  })

  test('names everybody who is asked', () => {
    const people = [
      { user_id: '1', name: 'Ada Lovelace', answer: 'pending' },
      { user_id: '2', name: 'Grace Hopper', answer: 'pending' },
    ]
    const rows = [{ ...request(1), lines: [{ group: 'dba', need: 2, people }] }]
    const [, , , row] = drawScreen({ ...empty, pending: { rows } }, '', { ...look, columns: 120 })
    expect(row).toContain('2 of @dba')
  })

  test('shows text of the server without its control characters, and masks numbers', () => {
    const action = 'Deploy \u001b[2J\u202e now'
    const pending = { rows: [request(1, action)] }
    const missing = { missing: 'not shown: \u001b]0;title\u0007' }
    const text = drawScreen({ ...empty, pending, nodes: missing }, 'svc top \u001b[1m', {
      ...look,
      columns: 100,
    }).join('\n')
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/)
    expect(text).toContain('+1••••••0101')
    expect(
      drawScreen({ ...empty, pending }, '', { ...look, columns: 200, reveal: true }).join('\n'),
    ).toContain('+12025550101')
  })
})
