/** The name of the cookie. Browsers accept the `__Host-` prefix only from this host over https, so no other host can set it. */
export const sessionCookie = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-svc-approver' : 'svc-approver'

/** Names the organization of the session for a browser that is signed in to several. */
export const organizationHeader = 'x-svc-organization'
