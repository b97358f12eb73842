import { endInstallation } from './apps/end-installation.ts'
import { registerAppKey } from './apps/register-app-key.ts'
import { resumeInstallation, suspendInstallation } from './apps/suspend-installation.ts'
import { countEndpoints } from './endpoints/count-endpoints.ts'
import { createEndpoint, type EndpointCreation } from './endpoints/create-endpoint.ts'
import { deleteEndpoint } from './endpoints/delete-endpoint.ts'
import { getEndpointLimits, setEndpointLimits } from './endpoints/endpoint-limits.ts'
import { getEndpoint } from './endpoints/get-endpoint.ts'
import { listEndpoints } from './endpoints/list-endpoints.ts'
import { moveEndpoint } from './endpoints/move-endpoint.ts'
import { onOwnEndpoint } from './endpoints/owner.ts'
import { putEndpoint } from './endpoints/put-endpoint.ts'
import { removeEndpoint } from './endpoints/remove-endpoint.ts'
import { rotateSecret } from './endpoints/rotate-secret.ts'
import { updateEndpoint } from './endpoints/update-endpoint.ts'
import { listEventTypes } from './events/list-event-types.ts'
import { pingEndpoint } from './events/ping-endpoint.ts'
import { testEndpoint } from './events/test-endpoint.ts'
import { disableEndpoint, enableEndpoint } from './health/disable-endpoint.ts'
import { getEndpointStatus } from './health/get-endpoint-status.ts'
import { listEndpointsForConsole, listEndpointsHealth } from './health/list-endpoints-health.ts'
import { listFailingEndpoints } from './health/list-failing-endpoints.ts'
import { getWebhookSettings, updateWebhookSettings } from './health/webhook-settings.ts'
import { getDelivery } from './history/get-delivery.ts'
import { getDeliveryBody } from './history/get-delivery-body.ts'
import { getWebhookFailures, getWebhookUsage } from './history/get-webhook-usage.ts'
import { listAllDeliveries } from './history/list-all-deliveries.ts'
import { listDeliveries } from './history/list-deliveries.ts'
import { resendDeliveries } from './history/resend-deliveries.ts'
import { resendDelivery } from './history/resend-delivery.ts'
import { cancelRecovery } from './recoveries/cancel-recovery.ts'
import { getRecovery } from './recoveries/get-recovery.ts'
import { recoverDeliveries } from './recoveries/recover-deliveries.ts'

/** The service's API. */
export const operations = (creation: EndpointCreation & Parameters<typeof listFailingEndpoints>[0]) => [
  createEndpoint(creation),
  listEndpoints,
  getEndpoint,
  getEndpointStatus,
  getEndpointLimits,
  onOwnEndpoint(setEndpointLimits),
  onOwnEndpoint(updateEndpoint(creation)),
  onOwnEndpoint(deleteEndpoint),
  onOwnEndpoint(disableEndpoint),
  onOwnEndpoint(enableEndpoint),
  onOwnEndpoint(rotateSecret(creation.keys)),
  onOwnEndpoint(pingEndpoint),
  onOwnEndpoint(testEndpoint),
  onOwnEndpoint(recoverDeliveries),
  getRecovery,
  onOwnEndpoint(cancelRecovery),
  listEventTypes,
  getWebhookSettings,
  updateWebhookSettings,
  listDeliveries,
  getDelivery,
  getDeliveryBody,
  onOwnEndpoint(resendDelivery),
  listAllDeliveries,
  getWebhookUsage,
  getWebhookFailures,
  countEndpoints(creation.mostEndpoints),
  resendDeliveries,
  listEndpointsHealth(creation),
  listEndpointsForConsole,
  listFailingEndpoints(creation),
  putEndpoint(creation),
  moveEndpoint(creation),
  removeEndpoint,
  registerAppKey,
  suspendInstallation,
  resumeInstallation,
  endInstallation,
]
