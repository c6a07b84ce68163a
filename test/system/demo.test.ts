import { expect, test } from 'vitest'
import { onTerminal } from '../e2e/terminal.ts'

test.concurrent.each([60, 100, 200])(
  'svc demo completes on a colour terminal of %i columns',
  async (columns) => {
    const { exit, screen } = await onTerminal(['demo'], {}, [], { rows: 50, columns })
    expect(screen.trimEnd().split('\n').at(-1)).toMatch(/\d+ steps, all as expected/)
    expect(exit).toBe(0)
  },
)
