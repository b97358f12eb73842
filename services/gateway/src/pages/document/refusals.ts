/** Why a page is not shown, in words for merchants. They tell nothing about what exists. */
export class PageRefusal extends Error {
  readonly status: number
  readonly title: string

  constructor(status: number, title: string, text: string) {
    super(text)
    this.status = status
    this.title = title
  }
}

const ASK_AGAIN = 'Go back to where you found the link and ask for a new one.'
const ONE_BROWSER = 'For your safety, a page opens only in the browser that opened its link, and for a limited time.'
const NOT_OURS = 'This request did not come from our page. Open the page with a new link and try again there.'
const REMOVED = 'The app has been removed from this workspace and has no access to it.'

/** The link is not one of ours. */
export const forgedLink = () =>
  new PageRefusal(403, 'This link is not valid', `Perhaps a part of it is missing. ${ASK_AGAIN}`)
/** The link was used, or its time is over. */
export const usedLink = () =>
  new PageRefusal(410, 'This link no longer works', `A link works once, and for a limited time. ${ASK_AGAIN}`)
/** The browser has no session on the page. */
export const noSession = () =>
  new PageRefusal(401, 'Please open this page with a new link', `${ONE_BROWSER} ${ASK_AGAIN}`)
/** A request that no form of ours has sent. */
export const forgedRequest = () => new PageRefusal(403, 'Nothing was changed', NOT_OURS)
export const noSuchPage = () => new PageRefusal(404, 'There is no such page', ASK_AGAIN)
/** The installation of the page has ended. */
export const noLongerInstalled = (name: string) => new PageRefusal(410, `${name} is not installed`, REMOVED)
