import { Page } from '../../parts/page.tsx'
import { Checks } from './checks.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { FailingEndpoints } from './failing-endpoints.tsx'
import { Outbox } from './outbox.tsx'
import { RequestById } from './request-by-id.tsx'

/** What waits or fails in the services, over all workspaces. */
export const SystemPage = () => (
  <Page title="System">
    <DeadLetters />
    <Outbox />
    <FailingEndpoints />
    <Checks />
    <RequestById />
  </Page>
)
