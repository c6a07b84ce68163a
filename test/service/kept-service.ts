import { join } from 'node:path'
import { temporaryFolder } from '../temporary-folder.ts'
import { startTestService, type TestService } from './harness.ts'

type Options = NonNullable<Parameters<typeof startTestService>[0]>

/**
 * Starts services that have all that `fill` adds, which runs once a worker: each starts from its own copy of that store,
 * so no test sees what another one writes. What `fill` returns is frozen, because all tests have it.
 */
export const keepService = <T>(fill: (service: TestService) => Promise<T>) => {
  const create = async (options: Options) => {
    const { path: folder, remove } = temporaryFolder()
    process.once('exit', remove)
    const from = join(folder, 'kept.db')
    const service = await startTestService(options)
    const made = frozen(await fill(service))
    await service.close(from)
    return { from, made }
  }
  let kept: ReturnType<typeof create> | undefined
  return async (options: Options): Promise<{ service: TestService; made: T }> => {
    const { from, made } = await (kept ??= create(options))
    return { service: await startTestService({ ...options, from }), made }
  }
}

const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}
