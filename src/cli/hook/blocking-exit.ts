/** Every host blocks a call if its hook exits with this code and says why on standard error. */
export const blockingExit = 2

let armed = false
let released = false

/**
 * From here on, the process exits with the code that blocks a call, however it ends: by an error, a signal, an output that
 * cannot be written, or because nothing is left to do.
 */
export const blockUntilReleased = (): void => {
  // src/main.ts has set it. Without that, this is not a process of its own.
  armed = process.exitCode === blockingExit
  if (!armed) return
  process.on('exit', () => {
    if (!released) process.exitCode = blockingExit
  })
}

/** Lets the exit code of the command stand, after a verdict that does not block was written. */
export const release = (): void => {
  released = true
}

/** Ends a process that still waits for something, before its host gives up and lets the call run. */
export const endBlocked = (): void => {
  if (armed) process.exit(blockingExit)
}
