import { describe, expect, test, vi } from 'vitest'
import { exposition } from '../../../../src/service/http/metrics/exposition.ts'
import { createStateReader } from '../../../../src/service/http/metrics/state.ts'
import { createNode } from '../../../../src/service/lifecycle/node.ts'
import { createSignals } from '../../../../src/service/call/signals/signals.ts'
import { engines } from '../../storage/engines.ts'
import { installHooks, storage } from '../../storage/opened-store.ts'

describe('the state of a process', () => {
  installHooks(engines[0]!)

  test.each([
    ['1234abcd-dirty', 'version="0.1.0",commit="1234abcd-dirty"'],
    ['', 'version="0.1.0",commit=""'],
  ])('of commit "%s" names version and commit', async (commit, labels) => {
    const build = { number: '0.1.0', commit }
    const signals = createSignals(storage, { poll: async () => [] })
    const state = createStateReader({ storage, signals, node: createNode({ storage, signals }, {}) }, build)
    expect(exposition(await state.families())).toContain(`svc_build_info{${labels}} 1\n`)
    state.stop()
  })

  test('is read within three seconds from a store that hangs', async () => {
    const signals = createSignals(storage, { poll: async () => [] })
    const hanging = { ...storage, read: () => new Promise<never>(() => undefined) }
    const node = createNode({ storage, signals }, {})
    const build = { number: '0.1.0', commit: '' }
    const state = createStateReader({ storage: hanging, signals, node }, build)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const families = state.families()
      await vi.advanceTimersByTimeAsync(3_000)
      expect(exposition(await families)).toContain('\nsvc_store_up 0\n')
    } finally {
      vi.useRealTimers()
      state.stop()
    }
  })
})
