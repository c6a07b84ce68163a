// What the page leaves for its worker, which shows notifications while the page is closed. Both reach the Cache Storage.

const kept = 'svc-notes'
const addressOf = (name: string): string => `/approver/notes/${name}`

/** Returns false if storage is blocked or full. */
export const leaveNote = async (name: string, text: string): Promise<boolean> => {
  try {
    await (await caches.open(kept)).put(addressOf(name), new Response(text))
    return true
  } catch {
    return false
  }
}

/** Undefined if there is none, or if storage is blocked. */
export const readNote = async (name: string): Promise<string | undefined> => {
  try {
    return await (await caches.match(addressOf(name), { cacheName: kept }))?.text()
  } catch {
    return undefined
  }
}
