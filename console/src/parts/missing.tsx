import { Page } from './page.tsx'

/** Where the console has no page. */
export const Missing = () => (
  <Page title="No such page">
    <p>The console has no page at this address. The menu leads to those that there are.</p>
  </Page>
)
