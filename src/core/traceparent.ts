/** The trace that a request belongs to, as W3C Trace Context names it. */
export type TraceParent = { trace_id: string; parent_id: string }

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/
const zeros = /^0+$/

/** Reads a `traceparent`. Undefined if it is missing or not valid: the standard says to ignore it then. */
export const readTraceParent = (header: string | undefined): TraceParent | undefined => {
  if (header === undefined || header.length > 512) return undefined
  const [, version, trace_id, parent_id, more] = form.exec(header) ?? []
  if (version === undefined || version === 'ff' || zeros.test(trace_id!) || zeros.test(parent_id!))
    return undefined
  // Only later versions may have further fields.
  if (version === '00' && more !== undefined) return undefined
  return { trace_id: trace_id!, parent_id: parent_id! }
}
