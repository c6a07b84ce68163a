/** Shows the number of pending requests on the icon of the page, where it is installed. */
export const showBadge = async (count: number): Promise<void> => {
  if ('setAppBadge' in navigator) await navigator.setAppBadge(count).catch(() => undefined)
}
