import { describe, expect, test } from 'vitest'
import { requestText } from '../../../src/cli/approve/request-text.ts'
import type { Ceremony } from '../../../src/cli/approve/software-device.ts'
import { question } from '../../receipt/set-specimen.ts'

const ask = (lines: Ceremony['lines']): string =>
  requestText(
    {
      context: question,
      subject: { type: 'text', data: { text: question.action } },
      numberRequired: false,
      locationRequired: false,
      lines,
      grant: undefined,
      decide: () => Promise.reject(new Error('not decided')),
    },
    0,
    { isTTY: true, columns: 80 },
  )
const person = (name: string, answer: 'pending' | 'approved' = 'pending') => ({
  user_id: name,
  name,
  mobile: '+1••••••0101',
  answer,
  answered_at: null,
})

describe('the request on a terminal', () => {
  test('says who else must approve, and who has', () => {
    const text = ask([
      { group: 'dba', need: 1, rules: ['destroy'], people: [person('Ada'), person('Bob', 'approved')] },
      { group: null, need: 1, rules: [], people: [person('Eve\u202e')] },
    ])
    expect(text).toContain('  Approvers   @dba and Eve\\u{202e}\n')
    expect(text).toContain('  So far      1 of 2 approved; waiting for Eve\\u{202e}\n')
  })

  test('says which rules ask for the approver, as the approver signs it', () => {
    expect(ask([])).toContain('  Asked       because of rule destroy\n')
  })

  test('says nothing of the kind to the only person who is asked', () => {
    expect(ask([{ group: null, need: 1, rules: [], people: [person('Ada')] }])).not.toContain('Approvers')
  })
})
