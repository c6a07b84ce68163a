type Confirm = (org: number | null | undefined) => Promise<boolean>

let how: Confirm | undefined

/** Tells how to let the person confirm a session. */
export const confirmWith = (confirm: Confirm): void => void (how = confirm)

let isQuiet = false

/** Undefined while nobody is asked. */
export const howToConfirm = (): Confirm | undefined => (isQuiet ? undefined : how)

/** Makes the calls of `work` that no tap asked for: they fail rather than ask the person to confirm the session. */
export const quietly = <T>(work: () => T): T => {
  isQuiet = true
  try {
    return work()
  } finally {
    isQuiet = false
  }
}
