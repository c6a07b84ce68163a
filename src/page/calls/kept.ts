// What the page keeps in this browser. Storage can be blocked or full: then nothing is kept, and nothing fails.

export const readKept = (name: string): string | undefined => {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

export const discard = (name: string): void => {
  try {
    localStorage.removeItem(name)
  } catch {
    // Then it was not kept either.
  }
}

export const keep = (name: string, text: string): void => {
  try {
    localStorage.setItem(name, text)
  } catch {
    // It counts until the page is closed.
  }
}
