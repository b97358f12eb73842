import { Installation, InstallationQuery, PLATFORM } from '@backoffice/contracts/app.ts'
import { Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import {
  type Databases,
  type InstallationRow,
  installationBody,
  installationColumns,
} from '../apps/installation-rows.ts'

/** GET /internal/all-installations, for GET /admin/v1/installations: those of all workspaces, newest first (OP-230). */
export const listAllInstallations = ({ worker }: Pick<Databases, 'worker'>) =>
  operation({
    method: 'GET',
    path: '/internal/all-installations',
    scope: 'internal',
    query: InstallationQuery,
    responses: { 200: Page(Installation) },

    async handle({ query: { app, state, error, ...query }, context }) {
      const { sql } = worker
      // Only operators ask for the whole platform: a merchant's request finds nothing.
      const conditions = sql`
        ${context.workspaceId === PLATFORM}
        ${app === undefined ? sql`` : sql`and installation.app_id = ${app}`}
        ${state === undefined ? sql`` : sql`and installation.state = ${state}`}
        ${error === undefined ? sql`` : sql`and (installation.last_error is not null) = ${error === 'true'}`}`
      const page = await countedPage<InstallationRow>(sql, query, {
        columns: installationColumns(sql),
        source: sql`from installation join app on app.id = installation.app_id where ${conditions}`,
        by: ['installation.id'],
      })
      return ok({ ...page, items: page.items.map(installationBody) })
    },
  })
