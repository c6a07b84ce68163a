/** A time so many milliseconds after another, or before it where they are negative; both as text, as the store keeps them. */
export const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString()
