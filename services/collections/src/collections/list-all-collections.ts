import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okCountedPage } from '@backoffice/http/paged-body.ts'
import { collectionBytes } from './collection.ts'
import { ConsoleCollection, type ConsoleRecord, consoleBody, consoleColumns } from './console-collection.ts'

/** GET /console/collections (OP-319): all collections, drafts too, newest first. */
export const listAllCollections = operation({
  operationId: 'listAllCollections',
  method: 'GET',
  path: '/console/collections',
  summary: 'List collections, drafts too',
  scope: 'product::update',
  query: ListQuery,
  responses: { 200: Page(ConsoleCollection) },
  openPoints: ['OP-319'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace((tx) =>
      okCountedPage<ConsoleRecord>(tx, query, {
        columns: consoleColumns(tx),
        source: tx`from collection where workspace_id = ${tx.context.workspaceId}`,
        bytes: tx`${collectionBytes(tx)} + octet_length(coalesce(rules::text, ''))`,
        bodyOf: consoleBody,
      }),
    ),
})
