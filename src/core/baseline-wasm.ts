import { setFlagsFromString } from 'node:v8'

/**
 * Runs WebAssembly as V8's baseline compiler leaves it. Otherwise V8 optimises it in the background, and a process that
 * lives for a moment waits for that at its end: 70 ms for the HTTP parser on Node 20. Called before the module is loaded.
 */
export const keepBaselineWasm = (): void => setFlagsFromString('--liftoff-only')
