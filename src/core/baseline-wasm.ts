import { setFlagsFromString } from 'node:v8'

/**
 * Limits WebAssembly to V8's baseline compiler. Otherwise V8 optimizes in the background, and a short process waits for that
 * before it exits: 70 ms for the HTTP parser on Node 20. Call it before the module is loaded.
 */
export const keepBaselineWasm = (): void => setFlagsFromString('--liftoff-only')
