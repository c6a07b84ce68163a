import type { Service } from '../../call/service.ts'
import type { EventCounts } from './event-counts.ts'
import { exposition } from './exposition.ts'
import { listenForMetrics, type MetricsAddress, type MetricsListener } from './listener.ts'
import { createStateReader } from './state.ts'

/** Serves what was counted and the state of the service to Prometheus. */
export const openMetrics = async (
  {
    version = '-',
    dataDir,
    ...address
  }: MetricsAddress & { version?: string | undefined; dataDir?: string | undefined },
  service: Pick<Service, 'storage' | 'signals' | 'node'>,
  counts: Pick<EventCounts, 'families'>,
): Promise<MetricsListener> => {
  const state = createStateReader({ ...service, dataDir }, version)
  const read = async (): Promise<string> => exposition([...counts.families(), ...(await state.families())])
  try {
    const { stop, ...listening } = await listenForMetrics(address, read)
    return {
      ...listening,
      stop: async () => {
        state.stop()
        await stop()
      },
    }
  } catch (error) {
    state.stop()
    throw error
  }
}
