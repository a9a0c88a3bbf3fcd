<%@ page contentType="text/html;charset=UTF-8" %>
<%@ taglib prefix="c" uri="jakarta.tags.core" %>
<%@ taglib prefix="fn" uri="jakarta.tags.functions" %>
<!doctype html>
<html lang="de">
<head><title>Bestellungen</title></head>
<body>
<h1>Bestellungen von <c:out value="${customerName}"/></h1>
<form method="get">
  <input type="text" name="term" value="${fn:escapeXml(term)}">
</form>
<p class="hint">Suche nach: ${term}</p>
<table>
  <c:forEach items="${orders}" var="o">
    <tr>
      <td>${o.id}</td>
      <td><c:out value="${o.status}"/></td>
      <td><c:out value="${o.note}"/></td>
    </tr>
  </c:forEach>
</table>
</body>
</html>
