-- Health of a ProductionStackStatus or ProductionStackCluster for Argo CD, which calls kinds that it does not
-- know Healthy. In the ConfigMap argocd-cm, under the keys
-- resource.customizations.health.reporter.productionstack.kaito.sh_ProductionStackStatus
-- resource.customizations.health.reporter.productionstack.kaito.sh_ProductionStackCluster
local os = require("os")
local status = obj.status or {}
-- Times of this form, in UTC, are in the order of their texts; Argo CD has no library to parse them.
local now = os.date("!%Y-%m-%dT%H:%M:%SZ")
if status.expirationTime ~= nil and status.expirationTime <= now then
  local last = "; the last state, of " .. tostring(status.lastEvaluationTime) .. ", was " .. tostring(status.state)
  return { status = "Unknown", message = "Nobody renews the status" .. last }
end
if status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "Nobody has seen this generation yet" }
end
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local function text(condition)
  local message = condition.message or ""
  if message == "" then
    return condition.reason
  end
  return condition.reason .. ": " .. message
end
local function is(kind, value)
  return conditions[kind] ~= nil and conditions[kind].status == value
end
if is("Stalled", "True") then
  return { status = "Degraded", message = text(conditions.Stalled) }
end
if is("Ready", "True") then
  return { status = "Healthy", message = status.state }
end
if conditions.Ready ~= nil then
  return { status = "Progressing", message = text(conditions.Ready) }
end
return { status = "Progressing", message = "The status has no condition Ready" }
