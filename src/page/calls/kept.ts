// What the page keeps in this browser. Storage can be blocked or full: then nothing is kept, and nothing fails.

export const readKept = (name: string): string | undefined => {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/** Without a text, nothing is kept any more. */
export const keep = (name: string, text?: string): void => {
  try {
    if (text === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, text)
  } catch {
    // It counts until the page is closed.
  }
}
