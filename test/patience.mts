/** A limit that only a hang reaches, however busy the machine is. */
export const patienceMs = 120_000
