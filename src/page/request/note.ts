import { base64URLStringToBuffer, bufferToBase64URLString } from '@simplewebauthn/browser'

/** The context of a denial with a note: in canonical form (RFC 8785), as the service builds it. Base64url. */
export const withNote = (context: string, note: string): string => {
  const signed = JSON.parse(new TextDecoder().decode(base64URLStringToBuffer(context))) as object
  // The objects inside are in order already.
  const members = Object.entries({ ...signed, note }).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(members)))
  return bufferToBase64URLString(bytes.buffer)
}
